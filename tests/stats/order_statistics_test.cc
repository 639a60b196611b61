// SPDX-License-Identifier: Apache-2.0
#include "paceline/stats/order_statistics.h"

#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

namespace paceline::stats {
namespace {

TEST(OrderStatistics, AreThoseOfTheTables) {
  const double pi = std::numbers::pi;
  EXPECT_NEAR(slowest_delay_sd(1), 0, 1e-9);
  EXPECT_NEAR(slowest_delay_sd(2), 1 / std::sqrt(pi), 1e-6);
  EXPECT_NEAR(slowest_delay_sd(3), 3 / (2 * std::sqrt(pi)), 1e-6);
  // Harter, table 1.
  EXPECT_NEAR(slowest_delay_sd(4), 1.02938, 1e-5);
  EXPECT_NEAR(slowest_delay_sd(10), 1.53875, 1e-5);
  EXPECT_NEAR(slowest_delay_sd(16), 1.76599, 1e-5);
  EXPECT_NEAR(normal_order_statistic(9, 10), 1.00136, 1e-5);
  EXPECT_NEAR(normal_order_statistic(8, 10), 0.65606, 1e-5);
}

TEST(OrderStatistics, AreSymmetric) {
  for (int k = 1; k <= 10; ++k) {
    EXPECT_NEAR(normal_order_statistic(k, 10), -normal_order_statistic(11 - k, 10), 1e-9);
  }
}

}  // namespace
}  // namespace paceline::stats
