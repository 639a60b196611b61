// SPDX-License-Identifier: Apache-2.0
#include "paceline/stats/quantile.h"

#include <array>

#include <gtest/gtest.h>

namespace paceline::stats {
namespace {

TEST(Quantile, InterpolatesAtIndexPTimesNMinusOne) {
  const std::array samples{4.0, 1.0, 3.0, 2.0};
  EXPECT_EQ(quantile(samples, 0.5), 2.5);
  EXPECT_EQ(quantile(samples, 0.0), 1.0);
  EXPECT_EQ(quantile(samples, 1.0), 4.0);
  EXPECT_EQ(quantile(samples, 0.75), 3.25);
}

}  // namespace
}  // namespace paceline::stats
