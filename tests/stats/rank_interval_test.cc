// SPDX-License-Identifier: Apache-2.0
#include "paceline/stats/rank_interval.h"

#include <cmath>
#include <cstdint>
#include <map>
#include <vector>

#include <gtest/gtest.h>

#include "paceline/base/random.h"
#include "stats/simulation.h"

namespace paceline::stats {
namespace {

// Critical values of Wilcoxon's signed-rank test, two-sided 5 % (Hollander, Wolfe and Chicken 2014,
// table A.4; Wilcoxon 1945 for some): reject at
// T <= value, so the order is one more.
TEST(RankInterval, SignedRankOrdersArePublished) {
  const std::map<std::size_t, std::size_t> critical{{6, 0},  {7, 2},   {8, 3},   {9, 5},
                                                    {10, 8}, {12, 13}, {15, 25}, {20, 52}};
  for (const auto& [n, value] : critical) {
    EXPECT_EQ(signed_rank_order(n, 0.95), value + 1) << n;
  }
  EXPECT_EQ(signed_rank_order(5, 0.95), 0u);
}

// The same of Mann and Whitney's U.
TEST(RankInterval, RankSumOrdersArePublished) {
  const std::map<std::pair<std::size_t, std::size_t>, std::size_t> critical{
      {{4, 4}, 0},  {{5, 5}, 2},  {{5, 8}, 6},    {{6, 6}, 5},
      {{7, 9}, 12}, {{8, 8}, 13}, {{10, 10}, 23}, {{15, 12}, 49}};
  for (const auto& [sizes, value] : critical) {
    EXPECT_EQ(rank_sum_order(sizes.first, sizes.second, 0.95), value + 1)
        << sizes.first << " and " << sizes.second;
  }
  EXPECT_EQ(rank_sum_order(3, 4, 0.95), 0u);
}

// Every assignment of signs to the ranks counted by hand.
TEST(RankInterval, SignedRankOrderEqualsBruteForce) {
  for (std::size_t n = 1; n <= 12; ++n) {
    const std::uint32_t all = 1U << n;
    for (const double level : {0.5, 0.8, 0.95, 0.99}) {
      std::size_t expected = 0;
      for (std::size_t k = 1; k <= n * (n + 1) / 2 + 1; ++k) {
        std::uint32_t below = 0;
        for (std::uint32_t signs = 0; signs < all; ++signs) {
          std::size_t sum = 0;
          for (std::size_t i = 0; i < n; ++i) {
            sum += (signs >> i & 1U) != 0 ? i + 1 : 0;
          }
          below += sum < k ? 1 : 0;
        }
        // Integers on both sides: 1 - level is a multiple of 1/100.
        const auto percent = static_cast<std::uint64_t>(std::llround(100 * (1 - level)));
        if (200ULL * below <= percent * all) {
          expected = k;
        }
      }
      EXPECT_EQ(signed_rank_order(n, level), expected) << n << " " << level;
    }
  }
}

TEST(RankInterval, OfSixIsFromTheSmallestToTheLargest) {
  const std::vector<double> values{3, 1, 2, 6, 4, 5};
  EXPECT_EQ(signed_rank_interval(values, 0.95), (Interval{1, 6}));
  EXPECT_EQ(center_of(values), 3.5);
  EXPECT_EQ(signed_rank_interval(std::vector<double>{1, 2, 3, 4, 5}, 0.95), std::nullopt);
}

TEST(RankInterval, OfTwoSamplesIsTheirShift) {
  // U of 4 and 4 leaves only its least value: the extreme differences.
  EXPECT_EQ(
      rank_sum_interval(std::vector<double>{10, 11, 12, 13}, std::vector<double>{1, 2, 3, 4}, 0.95),
      (Interval{6, 12}));
}

TEST(RankInterval, HoldsAtItsLevelWhateverTheTails) {
  constexpr int kSimulations = 2000;
  for (const std::size_t n : {6U, 8U, 10U, 14U}) {
    int paired = 0;
    int shift = 0;
    for (int i = 0; i < kSimulations; ++i) {
      Random random(5, static_cast<std::uint64_t>(i));
      // Cauchy: the ratio of two normal values.
      const auto draw = [&] {
        std::vector<double> values;
        for (std::size_t k = 0; k < n; ++k) {
          const double top = random.normal();
          values.push_back(top / random.normal());
        }
        return values;
      };
      paired += signed_rank_interval(draw(), 0.95)->contains(0) ? 1 : 0;
      const auto a = draw();
      shift += rank_sum_interval(a, draw(), 0.95)->contains(0) ? 1 : 0;
    }
    const double least = 0.95 - binomial_error(0.95, kSimulations);
    EXPECT_GE(paired / double{kSimulations}, least) << n;
    EXPECT_GE(shift / double{kSimulations}, least) << n;
  }
}

}  // namespace
}  // namespace paceline::stats
