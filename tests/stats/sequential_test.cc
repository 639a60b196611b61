// SPDX-License-Identifier: Apache-2.0
#include "paceline/stats/sequential.h"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "paceline/base/random.h"
#include "stats/simulation.h"

namespace paceline::stats {
namespace {

// n = 4, mean 1, squares 2, so t^2/nu = 2; g = 1 + 4 * 9 = 37:
// (3 / (39 / 37))^2 / sqrt(37) = (111 / 39)^2 / sqrt(37).
TEST(Sequential, EvidenceOfFourDifferences) {
  const std::vector<double> values{0, 1, 1, 2};
  EXPECT_NEAR(*sequential_evidence(values), std::pow(111.0 / 39, 2) / std::sqrt(37.0), 1e-12);
  EXPECT_NEAR(*sequential_evidence(values, 1), 1 / std::sqrt(37.0), 1e-12);
}

TEST(Sequential, TheIntervalEndsWhereTheEvidenceSuffices) {
  const std::vector<double> values{0.01, 0.03, 0.02, 0.05, -0.01, 0.02, 0.04};
  for (const double significance : {0.05, 0.01}) {
    const auto interval = sequential_interval(values, significance);
    ASSERT_TRUE(interval);
    for (const double end : {interval->low, interval->high}) {
      EXPECT_NEAR(*sequential_evidence(values, end) * significance, 1, 1e-9);
    }
    EXPECT_LT(*sequential_evidence(values, 0.5 * (interval->low + interval->high)), 1);
  }
}

// The scale of the differences does not matter, as of a t statistic.
TEST(Sequential, EvidenceHasNoScale) {
  const std::vector<double> small{0.001, 0.003, 0.002, 0.004};
  std::vector<double> large = small;
  for (double& value : large) {
    value *= 1e6;
  }
  EXPECT_NEAR(*sequential_evidence(small), *sequential_evidence(large), 1e-9);
}

TEST(Sequential, TwoDifferencesAndEqualOnesSayNothing) {
  EXPECT_FALSE(sequential_evidence(std::vector<double>{0.1, 0.2}));
  EXPECT_FALSE(sequential_interval(std::vector<double>{0.1, 0.2}));
  const std::vector<double> equal(8, std::log(1.1) - std::log(1.0));
  EXPECT_FALSE(sequential_evidence(equal));
  EXPECT_FALSE(sequential_interval(equal));
  EXPECT_FALSE(remaining_sequential_differences(equal, {.low = -0.01, .high = 0.01}));
}

TEST(Sequential, ThreeDifferencesAreTooFewForALowSignificance) {
  const std::vector<double> values{0.1, 0.1001, 0.0999};
  EXPECT_GT(sequential_interval(values, 0.05)->low, 0);
  EXPECT_EQ(sequential_interval(values, 0.001)->low, -std::numeric_limits<double>::infinity());
}

TEST(Sequential, EndsByAChangeOrInsideTheMargin) {
  const SequentialGoal goal{.threshold = 0.01, .low = std::log(0.98), .high = std::log(1.02)};
  EXPECT_EQ(sequential_end({0.011, 0.5}, goal), SequentialEnd::kChanged);
  EXPECT_EQ(sequential_end({-0.5, -0.011}, goal), SequentialEnd::kChanged);
  EXPECT_EQ(sequential_end({0.005, 0.019}, goal), SequentialEnd::kUnchanged);
  EXPECT_EQ(sequential_end({0.005, 0.03}, goal), SequentialEnd::kNone);
}

// The number said to be missing ends a sequence that goes on as it did.
TEST(Sequential, SaysHowManyDifferencesAreMissing) {
  const SequentialGoal goal{.low = -0.02, .high = 0.02};
  std::vector<double> values;
  for (int i = 0; i < 4; ++i) {
    values.push_back(i % 2 == 0 ? 0.02 : -0.02);
  }
  const auto to_go = remaining_sequential_differences(values, goal);
  ASSERT_TRUE(to_go);
  EXPECT_GT(*to_go, 1u);
  std::vector<double> more = values;
  while (sequential_end(*sequential_interval(more), goal) == SequentialEnd::kNone) {
    more.push_back(more.size() % 2 == 0 ? 0.02 : -0.02);
  }
  EXPECT_NEAR(static_cast<double>(more.size() - values.size()), static_cast<double>(*to_go),
              0.25 * static_cast<double>(*to_go) + 1);
  EXPECT_EQ(remaining_sequential_differences(more, goal), 0u);
}

// Looked at after each difference, at most one sequence in twenty of equals ends in a change:
// normal ones, and those of runs with a long tail or two levels.
TEST(Sequential, HoldsItsLevelAtEveryLook) {
  constexpr int kHistories = 2000;
  constexpr std::size_t kMost = 50;
  const auto two_levels = [](double x) { return (x > 0 ? 1.0 : -1.0) + 0.02 * x; };
  int kind = 0;
  for (const auto noise : {+normal_noise, +skewed_noise, +two_levels}) {
    int claims = 0;
    for (int i = 0; i < kHistories; ++i) {
      Random random(31, static_cast<std::uint64_t>(i));
      std::vector<double> differences;
      bool claimed = false;
      while (differences.size() < kMost && !claimed) {
        const double base = noise(random.normal());
        differences.push_back(noise(random.normal()) - base);
        const auto interval = sequential_interval(differences);
        claimed = interval && !interval->contains(0);
      }
      claims += claimed ? 1 : 0;
    }
    EXPECT_LE(claims, kHistories * (0.05 + binomial_error(0.05, kHistories))) << "noise " << kind++;
  }
}

}  // namespace
}  // namespace paceline::stats
