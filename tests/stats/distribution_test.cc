// SPDX-License-Identifier: Apache-2.0
#include "paceline/stats/distribution.h"

#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

namespace paceline::stats {
namespace {

TEST(NormalCdf, MatchesTheTables) {
  EXPECT_EQ(normal_cdf(0), 0.5);
  EXPECT_NEAR(normal_cdf(1.959963984540054), 0.975, 1e-15);
  EXPECT_NEAR(normal_cdf(-1.959963984540054), 0.025, 1e-15);
}

TEST(SlowestDelay, MatchesTheTables) {
  const double pi = std::numbers::pi;
  EXPECT_NEAR(slowest_delay_sd(1), 0, 1e-9);
  EXPECT_NEAR(slowest_delay_sd(2), 1 / std::sqrt(pi), 1e-6);
  EXPECT_NEAR(slowest_delay_sd(3), 3 / (2 * std::sqrt(pi)), 1e-6);
  // Harter, table 1.
  EXPECT_NEAR(slowest_delay_sd(4), 1.02938, 1e-5);
  EXPECT_NEAR(slowest_delay_sd(10), 1.53875, 1e-5);
  EXPECT_NEAR(slowest_delay_sd(16), 1.76599, 1e-5);
}

// The two-sided 95 % column of any table of Student's t.
TEST(StudentT, MatchesTheTables) {
  EXPECT_NEAR(student_t_quantile(0.95, 1), 12.706, 5e-4);
  EXPECT_NEAR(student_t_quantile(0.95, 2), 4.303, 5e-4);
  EXPECT_NEAR(student_t_quantile(0.95, 3), 3.182, 5e-4);
  EXPECT_NEAR(student_t_quantile(0.95, 4), 2.776, 5e-4);
  EXPECT_NEAR(student_t_quantile(0.95, 9), 2.262, 5e-4);
  EXPECT_NEAR(student_t_quantile(0.99, 30), 2.750, 5e-4);
  EXPECT_NEAR(student_t_quantile(0.95, 1000), 1.962, 5e-4);
}

TEST(StudentT, WithinIsZeroAtZero) {
  for (const int degrees : {1, 2, 7, 8}) {
    EXPECT_EQ(student_t_within(0, degrees), 0);
  }
}

// 1 - 2 P(Binomial(n, 1/2) < k): n = 6 gives 1 - 2/64 with the extremes;
// n = 8 gives 1 - 18/256 = 0.930 with the second ones.
TEST(MedianOrder, IsTheLargestPairThatCovers) {
  EXPECT_EQ(median_order(5, 0.95), std::nullopt);
  EXPECT_EQ(median_order(6, 0.95), 1U);
  EXPECT_EQ(median_order(8, 0.95), 1U);
  EXPECT_EQ(median_order(8, 0.92), 2U);
  EXPECT_EQ(median_order(9, 0.95), 2U);
  EXPECT_EQ(median_order(20, 0.95), 6U);
  EXPECT_EQ(median_order(1, 0.5), std::nullopt);
  EXPECT_EQ(median_order(2, 0.5), 1U);
}

}  // namespace
}  // namespace paceline::stats
