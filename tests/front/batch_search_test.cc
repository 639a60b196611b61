// SPDX-License-Identifier: Apache-2.0
#include "paceline/front/batch_search.h"

#include <vector>

#include <gtest/gtest.h>

namespace paceline::front {
namespace {

// Of a memory that has room for `room` samples.
TrialOutcome fit_of(int size, int room) {
  return size <= room ? TrialOutcome::kFits : TrialOutcome::kTooLarge;
}

TEST(BatchSearchResult, DoublesAndBisectsToAnEighth) {
  for (int room = 1; room <= 300; ++room) {
    for (const int unit : {1, 4}) {
      std::vector<int> tried;
      const BatchSearchResult search = search_batch(unit, 1 << 16, [&](int size) {
        tried.push_back(size);
        return fit_of(size, room);
      });
      EXPECT_LE(search.largest, room);
      EXPECT_EQ(search.largest % unit, 0);
      if (room < unit) {
        EXPECT_EQ(search.largest, 0);
        EXPECT_EQ(search.above, unit);
        EXPECT_EQ(tried.size(), 1U);
        continue;
      }
      // A size that is larger by more than an eighth and a unit does not fit.
      EXPECT_GT(search.largest + search.largest / 8 + unit, room)
          << room << " in units of " << unit;
      for (const int size : tried) {
        EXPECT_EQ(size % unit, 0);
      }
      EXPECT_LE(tried.size(), 14U);
    }
  }
}

TEST(BatchSearchResult, SaysWhatItTried) {
  const BatchSearchResult search =
      search_batch(1, 1 << 16, [](int size) { return fit_of(size, 6); });
  EXPECT_EQ(search.largest, 6);
  EXPECT_EQ(search.tried, "1 fits, 2 fits, 4 fits, 8 does not, 6 fits, 7 does not");
  const auto any = [](int) { return TrialOutcome::kFits; };
  EXPECT_EQ(search_batch(1, 8, any).largest, 8) << "no search without end";
  EXPECT_EQ(search_batch(1, 2, any).tried, "1 fits, 2 fits, the bound of the search");
}

TEST(BatchSearchResult, GoesOnFromASizeThatIsTooSmall) {
  const auto room_for = [](int room) {
    return [room](int size) { return size == 1 ? TrialOutcome::kTooSmall : fit_of(size, room); };
  };
  const BatchSearchResult search = search_batch(1, 1 << 16, room_for(3));
  EXPECT_EQ(search.largest, 3);
  EXPECT_EQ(search.tried, "1 is too small, 2 fits, 4 does not, 3 fits");
  const BatchSearchResult none = search_batch(1, 1 << 16, room_for(1));
  EXPECT_EQ(none.largest, 0);
  EXPECT_EQ(none.above, 2);
  EXPECT_EQ(none.tried, "1 is too small, 2 does not");
}

}  // namespace
}  // namespace paceline::front
