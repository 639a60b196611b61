// SPDX-License-Identifier: Apache-2.0
#include "paceline/stats/interval.h"

#include <cmath>

#include <gtest/gtest.h>

#include "paceline/stats/bootstrap.h"
#include "paceline/stats/distribution.h"
#include "paceline/stats/quantile.h"
#include "stats/simulation.h"

namespace paceline::stats {
namespace {

TEST(Interval, ReachesToWhatLiesOutside) {
  constexpr Interval kFound{2, 4};
  EXPECT_EQ(kFound.widened_to(3), kFound);
  EXPECT_EQ(kFound.widened_to(1), (Interval{1, 4}));
  EXPECT_EQ(kFound.widened_to(5), (Interval{2, 5}));
}

using Case = std::vector<std::vector<double>>;

constexpr int kDraws = 200;
constexpr std::size_t kResamples = 150;

// The share of simulations in which `covers(random, simulation)` holds.
template <typename Covers>
double coverage(Covers covers) {
  int hits = 0;
  for (int i = 0; i < kDraws; ++i) {
    Random random(2024, static_cast<std::uint64_t>(i));
    hits += covers(random, static_cast<std::uint64_t>(i)) ? 1 : 0;
  }
  return hits / static_cast<double>(kDraws);
}

// Runs whose medians scatter by 3 % about `center`.
Case scattered_runs(Random& random, std::size_t runs, double center) {
  Case result;
  for (std::size_t i = 0; i < runs; ++i) {
    result.push_back({center * (1 + 0.03 * random.normal())});
  }
  return result;
}

TEST(MedianOfRuns, WithSixRunsIsBetweenTheSmallestAndTheLargest) {
  const Case runs{{1, 2, 3}, {4}, {1}, {5}, {9}, {3}};  // medians 2 4 1 5 9 3
  const auto estimate = median_of_runs(runs);
  EXPECT_EQ(estimate->value, 3.5);
  EXPECT_EQ(estimate->interval, (Interval{1, 9}));
  EXPECT_EQ(estimate->basis, IntervalBasis::kRuns);
  EXPECT_EQ(estimate->runs, 6U);
}

// Logarithms to base 2 are 1, 2 and 3: mean 2, s = 1, 2 +- 4.3027 / sqrt(3).
TEST(MedianOfRuns, WithThreeRunsIsStudentsTOfTheirLogarithms) {
  const Case runs{{2}, {4}, {8}};
  const auto estimate = median_of_runs(runs);
  EXPECT_EQ(estimate->value, 4);
  const double factor = std::exp2(4.302653 / std::sqrt(3));
  EXPECT_NEAR(estimate->interval->low, 4 / factor, 1e-6);
  EXPECT_NEAR(estimate->interval->high, 4 * factor, 1e-5);
  EXPECT_EQ(estimate->basis, IntervalBasis::kRuns);
}

// Mean 3, s = 1, n = 3: 3 +- 4.3027 / sqrt(3).
TEST(MedianOfRuns, WithoutALogarithmIsStudentsTOfTheRunsThemselves) {
  for (const double shift : {-3.0, -2.0}) {
    const auto estimate = median_of_runs(Case{{2 + shift}, {3 + shift}, {4 + shift}});
    EXPECT_NEAR(estimate->interval->low, 3 + shift - 4.302653 / std::sqrt(3), 1e-6);
    EXPECT_NEAR(estimate->interval->high, 3 + shift + 4.302653 / std::sqrt(3), 1e-6);
  }
}

// A busy machine: the middle run took four times as long as the first.
TEST(MedianOfRuns, OfTimesNeverReachesBelowZero) {
  const auto estimate = median_of_runs(Case{{0.0213}, {0.0897}, {0.0925}});
  EXPECT_GT(estimate->interval->low, 0);
  EXPECT_TRUE(estimate->interval->contains(estimate->value));
}

TEST(MedianOfRuns, WithOneRunSpeaksOfThatRunOnly) {
  Random random(1);
  const Case runs{simulated(random, 50, 0, normal_noise)};
  const auto estimate = median_of_runs(runs);
  EXPECT_EQ(estimate->basis, IntervalBasis::kWithinRun);
  EXPECT_EQ(estimate->value, median(runs[0]));
  EXPECT_TRUE(estimate->interval->contains(estimate->value));
}

TEST(MedianOfRuns, HasNoIntervalWithoutEnoughSteps) {
  const Case few{{1, 2, 3, 4, 5, 6, 7}};
  EXPECT_EQ(median_of_runs(few)->value, 4);
  EXPECT_EQ(median_of_runs(few)->interval, std::nullopt);
}

TEST(MedianOfRuns, LeavesOutEmptyRuns) {
  const Case runs{{}, {2}, {}, {3}, {4}};
  EXPECT_EQ(median_of_runs(runs)->runs, 3U);
  EXPECT_FALSE(median_of_runs(Case{{}, {}}).has_value());
  EXPECT_FALSE(median_of_runs(Case{}).has_value());
}

TEST(MedianOfRuns, IsAFunctionOfSamplesAndSeed) {
  Random random(2);
  const Case runs{simulated(random, 40, 0.3, skewed_noise)};
  const auto interval = [&](std::uint64_t seed) {
    return median_of_runs(runs, {.resamples = 50, .seed = seed})->interval;
  };
  EXPECT_EQ(interval(5), interval(5));
  EXPECT_NE(interval(5), interval(6));
}

TEST(MedianOfRuns, OfEqualSamplesIsAPoint) {
  const Case one{std::vector<double>(20, 0.1)};
  EXPECT_EQ(median_of_runs(one)->interval, (Interval{0.1, 0.1}));
}

// Cautious about a correlation that so few steps cannot show: some 98 %.
TEST(MedianOfRuns, CoversAtTheNominalRateWithinARun) {
  for (const int n : {10, 40}) {
    const double share = coverage([n](Random& random, std::uint64_t seed) {
      const Case runs{simulated(random, n, 0, skewed_noise)};
      return median_of_runs(runs, {.resamples = 400, .seed = seed})->interval->contains(10);
    });
    EXPECT_GE(share, 0.95 - binomial_error(0.95, kDraws)) << n;
    EXPECT_LE(share, 0.998) << n;
  }
}

// Neighboring steps that resemble each other: single-sample resampling, which most tools do, misses
// the truth several times as often as it says.
TEST(MedianOfRuns, KnowsWhatSingleSamplesDoNot) {
  constexpr int kSteps = 80;
  constexpr double kRho = 0.6;
  const double ours = coverage([](Random& random, std::uint64_t seed) {
    const Case runs{simulated(random, kSteps, kRho, normal_noise)};
    return median_of_runs(runs, {.resamples = 400, .seed = seed})->interval->contains(10);
  });
  const double singles = coverage([](Random& random, std::uint64_t seed) {
    const auto run = simulated(random, kSteps, kRho, normal_noise);
    std::vector<double> medians;
    std::vector<std::size_t> indices;
    for (std::size_t i = 0; i < kResamples; ++i) {
      Random draw(seed, i);
      resample_blocks(run.size(), 1, draw, indices);
      std::vector<double> drawn;
      for (const std::size_t index : indices) {
        drawn.push_back(run[index]);
      }
      medians.push_back(median(drawn));
    }
    return percentile_interval(medians, 0.95).contains(10);
  });
  EXPECT_GT(ours, 0.94 - binomial_error(0.94, kDraws));
  EXPECT_LT(singles, 0.80);
}

TEST(MedianOfRuns, CoversAtTheNominalRateOverRuns) {
  for (const std::size_t n : {3U, 5U}) {
    const double share = coverage([n](Random& random, std::uint64_t) {
      return median_of_runs(scattered_runs(random, n, 10))->interval->contains(10);
    });
    EXPECT_NEAR(share, 0.95, binomial_error(0.95, kDraws)) << n;
  }
}

// Exact for any distribution: 1 - 2/64 with 6 runs, 1 - 2 (1 + 10) / 1024 with
// 10.
TEST(MedianOfRuns, OfOrderStatisticsCoversExactly) {
  for (const auto& [n, exact] : {std::pair{6, 62.0 / 64}, {10, 1002.0 / 1024}}) {
    const double share = coverage([n = n](Random& random, std::uint64_t) {
      Case runs;
      for (int i = 0; i < n; ++i) {
        runs.push_back(simulated(random, 1, 0, skewed_noise));
      }
      return median_of_runs(runs)->interval->contains(10);
    });
    EXPECT_NEAR(share, exact, binomial_error(exact, kDraws)) << n;
  }
}

// Steps of one run share its bias.  The interval within runs is right about those runs and wrong
// about the next one: that is why it is labelled.
TEST(MedianOfRuns, WithinARunSaysLittleAboutTheNext) {
  const auto biased_run = [](Random& random) {
    auto run = simulated(random, 50, 0, normal_noise);
    const double bias = 2 * random.normal();
    for (double& step : run) {
      step += bias;
    }
    return run;
  };
  const double one_run = coverage([&](Random& random, std::uint64_t seed) {
    return median_of_runs(Case{biased_run(random)}, {.resamples = kResamples, .seed = seed})
        ->interval->contains(10);
  });
  const double six_runs = coverage([&](Random& random, std::uint64_t) {
    Case runs;
    for (int i = 0; i < 6; ++i) {
      runs.push_back(biased_run(random));
    }
    return median_of_runs(runs)->interval->contains(10);
  });
  EXPECT_LT(one_run, 0.3);
  EXPECT_NEAR(six_runs, 62.0 / 64, binomial_error(62.0 / 64, kDraws));
}

TEST(RatioOfMedians, IsTheRatioOfTheMedians) {
  const auto estimate = ratio_of_medians(Case{{6, 8, 7}}, Case{{2, 1, 9}, {3}});
  EXPECT_EQ(estimate->value, 7 / 2.5);
  EXPECT_EQ(estimate->interval, std::nullopt);
  EXPECT_EQ(estimate->basis, IntervalBasis::kWithinRun);
  EXPECT_FALSE(ratio_of_medians(Case{}, Case{{1}}).has_value());
}

// Logarithms of both scatter by 1 about 0 and log 2, n = 3, so the standard error is sqrt(2/3) and
// Welch's degrees are 4.
TEST(RatioOfMedians, WithThreeRunsIsWelchOnLogarithms) {
  const double e = std::exp(1.0);
  const auto estimate = ratio_of_medians(Case{{2 / e}, {2}, {2 * e}}, Case{{1 / e}, {1}, {e}});
  const double half = student_t_quantile(0.95, 4) * std::sqrt(2.0 / 3);
  EXPECT_NEAR(std::log(estimate->interval->high), std::log(2) + half, 1e-9);
  EXPECT_NEAR(std::log(estimate->interval->low), std::log(2) - half, 1e-9);
  EXPECT_EQ(estimate->basis, IntervalBasis::kRuns);
}

// Welch's degrees are rounded down, so few runs are covered a little more.
TEST(RatioOfMedians, CoversAtTheNominalRate) {
  for (const std::size_t n : {3U, 5U, 6U, 8U}) {
    const double share = coverage([n](Random& random, std::uint64_t seed) {
      const Case base = scattered_runs(random, n, 10);
      const Case test = scattered_runs(random, n + 2, 20);
      return ratio_of_medians(test, base, {.resamples = kResamples, .seed = seed})
          ->interval->contains(2);
    });
    EXPECT_NEAR(share, 0.96, 0.01 + binomial_error(0.95, kDraws)) << n;
  }
}

TEST(RatioOfMedians, CoversAtTheNominalRateWithinRuns) {
  const double share = coverage([](Random& random, std::uint64_t seed) {
    const Case base{simulated(random, 30, 0, skewed_noise)};
    const Case test{simulated(random, 40, 0, skewed_noise)};
    return ratio_of_medians(test, base, {.resamples = kResamples, .seed = seed})
        ->interval->contains(1);
  });
  EXPECT_NEAR(share, 0.96, 0.01 + binomial_error(0.95, kDraws));
}

// Each pair shares a disturbance ten times the effect: pairing removes it.
TEST(Paired, RemovesWhatBothHaveInCommon) {
  Case with;
  Case without;
  Random random(8);
  for (int i = 0; i < 8; ++i) {
    const double machine = 10 + random.normal();
    with.push_back({machine + 0.1});
    without.push_back({machine});
  }
  const auto difference = paired_difference(with, without);
  EXPECT_NEAR(difference->value, 0.1, 1e-12);
  EXPECT_NEAR(difference->interval->low, 0.1, 1e-12);
  EXPECT_NEAR(difference->interval->high, 0.1, 1e-12);
  const auto unpaired = ratio_of_medians(with, without);
  EXPECT_TRUE(unpaired->interval->contains(1));
  EXPECT_GT(paired_ratio(with, without)->interval->low, 1);
}

TEST(Paired, WithinARunBootstrapsBothSides) {
  const double share = coverage([](Random& random, std::uint64_t seed) {
    const Case with{simulated(random, 30, 0, normal_noise)};
    const Case without{simulated(random, 30, 0, normal_noise)};
    const auto estimate = paired_difference(with, without, {.resamples = kResamples, .seed = seed});
    EXPECT_EQ(estimate->basis, IntervalBasis::kWithinRun);
    return estimate->interval->contains(0);
  });
  EXPECT_NEAR(share, 0.96, 0.01 + binomial_error(0.95, kDraws));
}

// A drift is in the pairs with either sign, for their order changes.
TEST(CenterOfPairs, DoesNotSeeADrift) {
  const Case drift{{4, -4, 4, -4, 4, -4, 4, -4}};
  const auto estimate = center_of_pairs(drift);
  EXPECT_EQ(estimate->value, 0);
  EXPECT_EQ(estimate->basis, IntervalBasis::kWithinRun);
  EXPECT_EQ(estimate->interval, (Interval{-4, 4}));
}

TEST(CenterOfPairs, SumsUpEachRunFirst) {
  // The centers are 2, 5 and 11.
  const Case runs{{1, 2, 3}, {}, {5}, {10, 11, 11, 12}};
  const auto estimate = center_of_pairs(runs);
  EXPECT_EQ(estimate->value, 5);
  EXPECT_EQ(estimate->runs, 3u);
  EXPECT_EQ(estimate->basis, IntervalBasis::kRuns);
  // Student's t of 2 degrees: 6 +- 4.3027 sqrt(21 / 3).
  EXPECT_NEAR(estimate->interval->low, 6 - 4.302653 * std::sqrt(7), 1e-5);
  EXPECT_NEAR(estimate->interval->high, 6 + 4.302653 * std::sqrt(7), 1e-5);
}

TEST(CenterOfPairs, IntervalOfFewPairs) {
  EXPECT_FALSE(center_of_pairs(Case{{}}));
  EXPECT_EQ(center_of_pairs(Case{{3}})->value, 3);
  EXPECT_FALSE(center_of_pairs(Case{{3, 4}})->interval);
  // 4 +- 4.3027 / sqrt(3)
  EXPECT_NEAR(center_of_pairs(Case{{3, 4, 5}})->interval->high, 4 + 4.302653 / std::sqrt(3), 1e-5);
  // All pairs of two runs together; six have their extremes.
  EXPECT_EQ(center_of_pairs(Case{{3, 4, 5}, {4, 5, 9}})->interval, (Interval{3, 9}));
}

TEST(CenterOfPairs, HoldsAtItsLevelWithSkewedSteps) {
  const double share = coverage([](Random& random, std::uint64_t) {
    const std::vector<double> with = simulated(random, 12, 0, skewed_noise);
    const std::vector<double> without = simulated(random, 12, 0, skewed_noise);
    Case pairs(1);
    for (std::size_t k = 0; k < with.size(); ++k) {
      pairs[0].push_back(with[k] - without[k]);
    }
    return center_of_pairs(pairs)->interval->contains(0);
  });
  EXPECT_NEAR(share, 0.955, 0.01 + binomial_error(0.95, kDraws));
}

}  // namespace
}  // namespace paceline::stats
