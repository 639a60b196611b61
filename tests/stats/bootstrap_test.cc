// SPDX-License-Identifier: Apache-2.0
#include "paceline/stats/bootstrap.h"

#include <set>

#include <gtest/gtest.h>

#include "paceline/stats/quantile.h"
#include "stats/simulation.h"

namespace paceline::stats {
namespace {

TEST(ResampleBlocks, IsMadeOfNeighborsAndFitsExactly) {
  Random random(1);
  std::vector<std::size_t> indices;
  resample_blocks(10, 4, random, indices);
  ASSERT_EQ(indices.size(), 10U);
  for (const std::size_t first : {0U, 4U, 8U}) {
    for (std::size_t i = first + 1; i < std::min<std::size_t>(first + 4, 10); ++i) {
      EXPECT_EQ(indices[i], (indices[i - 1] + 1) % 10) << i;
    }
  }
}

TEST(ResampleBlocks, StartsEverywhereAlike) {
  constexpr int kDraws = 2000;
  Random random(2);
  std::vector<std::size_t> indices;
  std::vector<int> counts(5);
  for (int i = 0; i < kDraws; ++i) {
    resample_blocks(5, 2, random, indices);
    ++counts[indices[0]];
  }
  for (const int count : counts) {
    EXPECT_NEAR(count, kDraws / 5.0, kDraws * binomial_error(0.2, kDraws));
  }
}

TEST(BlockLength, GrowsWithTheAutocorrelation) {
  Random random(3);
  const auto length = [&](double rho) {
    return block_length(simulated(random, 1000, rho, normal_noise));
  };
  const std::size_t white = length(0);
  const std::size_t red = length(0.6);
  const std::size_t deep_red = length(0.95);
  EXPECT_LE(white, 3U);
  EXPECT_GT(red, white);
  EXPECT_GT(deep_red, red);
}

// AR(1), rho = 0.5, n = 1000.  With the true autocovariances 0.5^k the sums of Politis and White
// are G = 4 and g(0) = 3, so the length is
// (2 G^2 / (4/3 g(0)^2) n)^(1/3) = 13.9; the estimate scatters around it.
TEST(BlockLength, IsNearTheOptimumOfAKnownProcess) {
  Random random(4);
  std::vector<double> lengths;
  for (int i = 0; i < 40; ++i) {
    lengths.push_back(
        static_cast<double>(block_length(simulated(random, 1000, 0.5, normal_noise))));
  }
  EXPECT_GT(median(lengths), 10);
  EXPECT_LT(median(lengths), 18);
}

TEST(BlockLength, IsOneWhereNothingVaries) {
  EXPECT_EQ(block_length(std::vector<double>(50, 1.0)), 1U);
  EXPECT_EQ(block_length(std::vector<double>{}), 1U);
}

// Of white noise nearly all, of AR(1) with rho = 0.9 one in 13: its signs correlate by (2 / pi)
// asin(0.9^k), which sum up to 6.0 over all lags.
TEST(EffectiveSamples, FallWithTheAutocorrelation) {
  Random random(6);
  const auto share = [&](double rho) {
    constexpr int kSteps = 4000;
    return effective_samples(simulated(random, kSteps, rho, skewed_noise)) / kSteps;
  };
  EXPECT_GT(share(0), 0.9);
  EXPECT_LE(share(0), 1);
  EXPECT_NEAR(share(0.9), 1 / 13.0, 0.02);
}

TEST(NeighborCorrelation, IsThatOfTheProcess) {
  Random random(7);
  for (const double rho : {0.3, 0.6, 0.9}) {
    EXPECT_NEAR(neighbor_correlation(simulated(random, 4000, rho, skewed_noise)), rho, 0.05);
  }
  EXPECT_LT(neighbor_correlation(simulated(random, 4000, 0, normal_noise)), 0.1);
  EXPECT_EQ(neighbor_correlation(std::vector<double>{}), 0);
  EXPECT_EQ(neighbor_correlation(std::vector<double>(9, 3.0)), 0);
  EXPECT_EQ(neighbor_correlation(std::vector<double>{1, 2, 1, 2, 1, 2}), 0);
}

// The rows of 100 and 300 steps of the table in docs/measuring.md.
TEST(NeighborCorrelation, IsHighInMostShortRunsOfHighCorrelation) {
  Random random(8);
  const auto hidden = [&](int steps, double rho) {
    int count = 0;
    for (int i = 0; i < 200; ++i) {
      count += is_interval_too_narrow(simulated(random, steps, rho, skewed_noise)) ? 1 : 0;
    }
    return count / 2.0;
  };
  EXPECT_GT(hidden(100, 0.9), 90);
  EXPECT_LT(hidden(100, 0.3), 3);
  EXPECT_EQ(hidden(300, 0.9), 0);
}

TEST(EffectiveSamples, AreNeverMoreThanThereAre) {
  EXPECT_EQ(effective_samples(std::vector<double>{}), 0);
  EXPECT_EQ(effective_samples(std::vector<double>{3}), 1);
  EXPECT_EQ(effective_samples(std::vector<double>(9, 3.0)), 9);
  // Steps in turns fast and slow do not make up for each other.
  EXPECT_EQ(effective_samples(std::vector<double>{1, 2, 1, 2, 1, 2, 1, 2}), 8);
}

TEST(ExpandedLevel, ApproachesTheLevelAsBlocksGrow) {
  // 10 blocks: 2 Phi(2.262 sqrt(10/9)) - 1 = 2 Phi(2.385) - 1.
  EXPECT_NEAR(expanded_level(0.95, 10), 0.9829, 1e-4);
  EXPECT_NEAR(expanded_level(0.95, 100'000), 0.95, 1e-5);
  EXPECT_GT(expanded_level(0.95, 3), expanded_level(0.95, 10));
}

TEST(PercentileInterval, TakesTheCentralShare) {
  std::vector<double> replicates;
  for (int i = 100; i >= 0; --i) {
    replicates.push_back(i);
  }
  const Interval interval = percentile_interval(replicates, 0.9);
  EXPECT_NEAR(interval.low, 5, 1e-9);
  EXPECT_NEAR(interval.high, 95, 1e-9);
}

}  // namespace
}  // namespace paceline::stats
