// SPDX-License-Identifier: Apache-2.0
#include "paceline/validate/judged.h"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "paceline/validate/inputs.h"

namespace paceline::validate {
namespace {

constexpr auto kReference = PACELINE_SOURCE_DIR "/reference";

TEST(Judged, IsWhatTheErrorsSay) {
  const std::vector<Cell> cells = read_cells(kReference);
  Errors errors;
  for (const Cell* cell : scorable(cells, Table::kFrameworks)) {
    errors[cell] = 25;
  }
  const std::vector<const Cell*> apart = set_apart(cells, Table::kFrameworks);
  for (const Cell* cell : apart) {
    errors[cell] = -50;
  }
  const std::vector<Judged> all = judged(errors, series_of);
  ASSERT_EQ(all.size(), errors.size());
  EXPECT_EQ(std::ranges::count(all, true, &Judged::apart), apart.size());
  for (const Judged& one : all) {
    EXPECT_NEAR(one.error(), one.apart ? -50 : 25, 1e-9) << one.id;
    EXPECT_GT(one.published, 0) << one.id;
    EXPECT_EQ(one.table, Table::kFrameworks);
  }
}

TEST(Judged, ComparesBucketsAsPublished) {
  const std::vector<Cell> cells = read_cells(kReference);
  Examinee examinee(cells, kReference);
  const auto all = bucket_differences(examinee, cells, {}, kReference);
  ASSERT_EQ(all.size(), 36U);
  for (const BucketDifference& one : all) {
    EXPECT_LT(one.published, 0) << one.id;
    // No row says that more collectives are faster.
    EXPECT_LE(one.predicted, 0.05) << one.id;
  }
  // A comparison of one device has nothing to send.
  EXPECT_LT(std::abs(all.front().predicted), 0.1);
}

}  // namespace
}  // namespace paceline::validate
