// SPDX-License-Identifier: Apache-2.0
#include "paceline/stats/steady.h"

#include <gtest/gtest.h>

#include "stats/simulation.h"

namespace paceline::stats {
namespace {

// Noise of 2 % about 1.
std::vector<double> steady_steps(Random& random, int n, double rho = 0) {
  auto steps = simulated(random, n, rho, normal_noise);
  for (double& step : steps) {
    step = 1 + 0.02 * (step - 10);
  }
  return steps;
}

TEST(SteadyState, OfASteadySeriesIsItsBeginning) {
  const std::vector<double> steps{1, 1.02, 0.99, 1.01, 1, 0.98, 1.01, 1};
  EXPECT_EQ(first_steady_step(steps), 0U);
}

TEST(SteadyState, LeavesOutASlowLeadIn) {
  const std::vector<double> steps{9, 2, 1.01, 0.99, 1, 1.02, 0.98, 1, 1.01, 1};
  EXPECT_EQ(first_steady_step(steps), 2U);
}

TEST(SteadyState, AFastFirstStepIsNoLeadIn) {
  const std::vector<double> steps{0.2, 1.01, 0.99, 1, 1.02, 0.98, 1, 1.01};
  EXPECT_EQ(first_steady_step(steps), 0U);
}

TEST(SteadyState, FindsASmallShiftThatNoFenceSees) {
  Random random(1);
  auto steps = steady_steps(random, 200);
  for (std::size_t i = 0; i < 60; ++i) {
    steps[i] += 0.04;  // two standard deviations
  }
  EXPECT_NEAR(static_cast<double>(first_steady_step(steps).value()), 60, 3);
}

TEST(SteadyState, FindsSeveralLevelsOnTheWayDown) {
  Random random(2);
  auto steps = steady_steps(random, 300);
  for (std::size_t i = 0; i < 100; ++i) {
    steps[i] += i < 40 ? 0.5 : 0.1;
  }
  EXPECT_NEAR(static_cast<double>(first_steady_step(steps).value()), 100, 2);
}

TEST(SteadyState, ALateChangeMeansItNeverSettled) {
  Random random(3);
  auto steps = steady_steps(random, 100);
  for (std::size_t i = 70; i < 100; ++i) {
    steps[i] += 0.3;
  }
  EXPECT_EQ(first_steady_step(steps), std::nullopt);
}

TEST(SteadyState, AShiftTooSmallToMatterIsNone) {
  Random random(5);
  auto steps = steady_steps(random, 200);
  for (std::size_t i = 0; i < 80; ++i) {
    steps[i] += 0.1;
  }
  EXPECT_NEAR(static_cast<double>(first_steady_step(steps).value()), 80, 2);
  EXPECT_EQ(first_steady_step(steps, {.least_shift = 0.2}), 0U);
}

TEST(SteadyState, SeldomFindsAChangeWhereThereIsNone) {
  constexpr int kSimulations = 100;
  for (const double rho : {0.0, 0.6}) {
    int found = 0;
    for (int i = 0; i < kSimulations; ++i) {
      Random random(6, static_cast<std::uint64_t>(i));
      found += first_steady_step(steady_steps(random, 60, rho)) == 0U ? 0 : 1;
    }
    EXPECT_LE(found, kSimulations / 8) << rho;
  }
}

TEST(SteadyState, IsAFunctionOfSamplesAndSeed) {
  Random random(7);
  const auto steps = steady_steps(random, 80, 0.9);
  EXPECT_EQ(first_steady_step(steps, {.seed = 1}), first_steady_step(steps, {.seed = 1}));
}

TEST(SteadyState, OfNothingIsUnknown) {
  EXPECT_EQ(first_steady_step({}), std::nullopt);
  EXPECT_EQ(first_steady_step(std::vector<double>{1}), std::nullopt);
}

}  // namespace
}  // namespace paceline::stats
