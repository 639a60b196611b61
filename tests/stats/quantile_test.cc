// SPDX-License-Identifier: Apache-2.0
#include "paceline/stats/quantile.h"

#include <array>
#include <vector>

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

TEST(Median, InPlaceIsTheSameNumber) {
  const std::vector<double> samples{0.1, 0.7, 0.3, 0.9, 0.2, 0.3, 5};
  for (std::size_t n = 1; n <= samples.size(); ++n) {
    std::vector<double> part(samples.begin(), samples.begin() + static_cast<std::ptrdiff_t>(n));
    EXPECT_EQ(median(part), quantile(part, 0.5)) << n;
    EXPECT_EQ(median_in_place(part), quantile(part, 0.5)) << n;
  }
}

}  // namespace
}  // namespace paceline::stats
