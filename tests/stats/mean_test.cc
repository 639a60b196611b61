// SPDX-License-Identifier: Apache-2.0
#include "paceline/stats/mean.h"

#include <array>
#include <cmath>

#include <gtest/gtest.h>

namespace paceline::stats {
namespace {

TEST(Mean, AddsAndDivides) {
  EXPECT_EQ(mean(std::array{7.0}), 7.0);
  EXPECT_EQ(mean(std::array{1.0, 2.0, 6.0}), 3.0);
}

TEST(StandardError, IsTheDeviationOverTheRootOfTheSamples) {
  // Squares 4, 0 and 4 of 3 samples: variance 8 / 2.
  EXPECT_DOUBLE_EQ(standard_error(std::array{1.0, 3.0, 5.0}), 2 / std::sqrt(3));
  EXPECT_EQ(standard_error(std::array{5.0, 5.0}), 0.0);
}

}  // namespace
}  // namespace paceline::stats
