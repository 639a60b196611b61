// SPDX-License-Identifier: Apache-2.0
#include "paceline/stats/summary.h"

#include <gtest/gtest.h>

#include "stats/simulation.h"

namespace paceline::stats {
namespace {

using Ranks = std::vector<std::vector<std::int64_t>>;
using Case = std::vector<std::vector<double>>;

constexpr std::int64_t kMs = 1'000'000;

// Two ranks that take turns at being slow: each of them has a mean of 2 ms, but every step takes 3
// ms.
const Ranks kTurns{{1 * kMs, 3 * kMs, 1 * kMs, 3 * kMs}, {3 * kMs, 1 * kMs, 3 * kMs, 1 * kMs}};

TEST(SlowestRank, SetsTheTimeOfEachStep) {
  EXPECT_EQ(slowest_rank_seconds(kTurns), (std::vector<double>{3e-3, 3e-3, 3e-3, 3e-3}));
}

TEST(SlowestRank, IgnoresRanksThatTookNoPart) {
  EXPECT_EQ(slowest_rank_seconds(Ranks{{}, {2 * kMs, 4 * kMs}, {}}),
            (std::vector<double>{2e-3, 4e-3}));
  EXPECT_TRUE(slowest_rank_seconds(Ranks{{}, {}}).empty());
}

TEST(SlowestRank, CountsOnlyStepsThatAllRanksHave) {
  EXPECT_EQ(slowest_rank_seconds(Ranks{{1 * kMs, 9 * kMs}, {2 * kMs}}), std::vector<double>{2e-3});
}

// numpy.percentile([1, 2, 4, 8, 16], [50, 75, 90, 95]).
TEST(Percentiles, InterpolateAsNumpyDoes) {
  const auto p = percentiles(std::vector<double>{16, 8, 4, 2, 1});
  EXPECT_DOUBLE_EQ(p->p50, 4);
  EXPECT_DOUBLE_EQ(p->p75, 8);
  EXPECT_DOUBLE_EQ(p->p90, 12.8);
  EXPECT_DOUBLE_EQ(p->p95, 14.4);
  EXPECT_FALSE(percentiles({}).has_value());
}

TEST(StepSummary, SummarizesAllRuns) {
  const Case runs{{1, 2, 3}, {}, {5, 9, 7}};
  const auto summary = summarize_steps(runs);
  EXPECT_EQ(summary->runs, 2U);
  EXPECT_EQ(summary->steps, 6U);
  EXPECT_EQ(summary->median.value, 4.5);          // of 2 and 7
  EXPECT_DOUBLE_EQ(summary->percentiles.p50, 4);  // of all steps
  EXPECT_FALSE(summarize_steps(Case{{}}).has_value());
}

// 64 samples a step.  The first window has 64 samples in 1 s, the second 128 in 4 s, the third 64
// in 8 s.
TEST(AggregateRate, IsTheMedianOfTheRatesOfRuns) {
  constexpr std::int64_t kSecond = 1000 * kMs;
  const std::vector<RunWindow> windows{
      {.step_ns = {{kSecond}}, .samples_per_step = 64},
      {.step_ns = {{2 * kSecond, 2 * kSecond}}, .samples_per_step = 64},
      {.step_ns = {{8 * kSecond}}, .samples_per_step = 64}};
  const auto rate = aggregate_rate(std::span(windows).first(2));
  EXPECT_DOUBLE_EQ(rate->value, 48);
  EXPECT_EQ(rate->interval, std::nullopt);
  EXPECT_DOUBLE_EQ(aggregate_rate(windows)->value, 32);
  EXPECT_TRUE(aggregate_rate(windows)->interval);
  const auto doubled = scaling_efficiency({std::span(windows).first(1), 1}, {windows, 2});
  EXPECT_DOUBLE_EQ(doubled->value, 32.0 / 64 / 2);
}

// The interval of the steps is of the same figure: of the median, too.
TEST(AggregateRate, OfTwoRunsHasTheIntervalOfTheirMedian) {
  std::vector<RunWindow> windows(2);
  for (std::size_t i = 0; i < windows.size(); ++i) {
    windows[i].samples_per_step = 1;
    windows[i].step_ns = {{}};
    Random random(3, i);
    for (int step = 0; step < 40; ++step) {
      windows[i].step_ns[0].push_back(
          static_cast<std::int64_t>((i == 0 ? 1e6 : 9e6) * (0.99 + 0.02 * random.uniform())));
    }
  }
  const auto rate = aggregate_rate(windows);
  ASSERT_TRUE(rate && rate->interval);
  // 1000/s and 111/s; all samples over all wall time would be 200/s.
  EXPECT_NEAR(rate->value, 555.6, 10);
  EXPECT_GT(rate->interval->low, 500);
  EXPECT_LT(rate->interval->high, 600);
}

TEST(AggregateRate, TakesTheWallTimeWhereItIsKnown) {
  const std::vector<RunWindow> windows{
      {.step_ns = kTurns, .wall_ns = 16 * kMs, .samples_per_step = 4}};
  EXPECT_DOUBLE_EQ(aggregate_rate(windows)->value, 1000);
  // Else the longest rank's own 8 ms, not the 12 ms of the slowest per step.
  const std::vector<RunWindow> unknown{{.step_ns = kTurns, .samples_per_step = 4}};
  EXPECT_DOUBLE_EQ(aggregate_rate(unknown)->value, 2000);
}

TEST(AggregateRate, HasAnIntervalOverRunsFromThreeOn) {
  std::vector<RunWindow> windows;
  for (const std::int64_t ms : {9, 10, 11}) {
    windows.push_back({.step_ns = {{ms * kMs}}, .samples_per_step = 1});
  }
  const auto rate = aggregate_rate(windows);
  EXPECT_DOUBLE_EQ(rate->value, 100);
  EXPECT_EQ(rate->basis, IntervalBasis::kRuns);
  EXPECT_TRUE(rate->interval->contains(100));
  EXPECT_FALSE(aggregate_rate({}).has_value());
}

TEST(AggregateRate, CoversAtTheNominalRateWithinARun) {
  constexpr int kSimulations = 150;
  int hits = 0;
  for (int i = 0; i < kSimulations; ++i) {
    Random random(11, static_cast<std::uint64_t>(i));
    RunWindow window{.samples_per_step = 10};
    for (int rank = 0; rank < 2; ++rank) {
      auto& steps = window.step_ns.emplace_back();
      for (const double ms : simulated(random, 50, 0, normal_noise)) {
        steps.push_back(static_cast<std::int64_t>(ms * 1e6));
      }
    }
    const auto rate = aggregate_rate(std::vector{window},
                                     {.resamples = 200, .seed = static_cast<std::uint64_t>(i)});
    ASSERT_TRUE(rate->interval->contains(rate->value));
    // The longer of two sums of 50 steps of 10 +- 1 ms: its mean is
    // 500 + sqrt(50 / pi) = 503.99 ms.
    hits += rate->interval->contains(500 / 0.50399) ? 1 : 0;
  }
  EXPECT_NEAR(hits, 0.95 * kSimulations, kSimulations * binomial_error(0.95, kSimulations));
}

// Ranks that wait for few others are slow in other steps each and end together: no drawn window may
// be longer for that.
TEST(AggregateRate, HoldsItsValueWhereEachStepIsSlowOnAnotherRank) {
  constexpr std::size_t kRanks = 32;
  RunWindow window{.step_ns = std::vector<std::vector<std::int64_t>>(kRanks),
                   .samples_per_step = 10};
  Random random(7, 0);
  for (int pair = 0; pair < 12; ++pair) {
    for (auto& steps : window.step_ns) {
      const auto more = static_cast<std::int64_t>(random.uniform() * 5e6);
      steps.push_back(10'000'000 + more);
      steps.push_back(10'000'000 - more);
    }
  }
  const auto rate = aggregate_rate({{window}});
  ASSERT_TRUE(rate && rate->interval);
  EXPECT_DOUBLE_EQ(rate->value, 1000);
  EXPECT_LT(rate->interval->low, 1000);
  EXPECT_GT(rate->interval->high, 1000);
  const ScalingCase one{.windows = {&window, 1}, .ranks = kRanks};
  const auto efficiency = scaling_efficiency(one, one);
  ASSERT_TRUE(efficiency && efficiency->interval);
  EXPECT_LT(efficiency->interval->low, 1);
  EXPECT_GT(efficiency->interval->high, 1);
}

// A run of one rank whose steps take so many milliseconds.
RunWindow window_of(const std::vector<std::int64_t>& steps_ms, double samples) {
  RunWindow window{.step_ns = {{}}, .samples_per_step = samples};
  for (const std::int64_t ms : steps_ms) {
    window.step_ns[0].push_back(ms * 1'000'000);
  }
  return window;
}

TEST(ScalingEfficiency, IsTheRatioOfTheRatesPerRank) {
  // The median step is 10 ms in both, the mean 10 and 12: rates count all.
  const std::vector base{window_of({10, 10, 10, 10, 10}, 32)};
  const std::vector test{window_of({10, 10, 10, 10, 20}, 64)};
  const auto found = scaling_efficiency({base, 1}, {test, 2});
  EXPECT_DOUBLE_EQ(found->value, aggregate_rate(test)->value / 2 / aggregate_rate(base)->value);
  EXPECT_DOUBLE_EQ(found->value, 10.0 / 12);
  EXPECT_FALSE(found->interval) << "of five steps";
  EXPECT_EQ(scaling_efficiency({base, 1}, {base, 1})->value, 1);
  EXPECT_FALSE(scaling_efficiency({{}, 1}, {test, 2}));
}

TEST(ScalingEfficiency, ScalesItsIntervalToo) {
  const std::vector base{window_of({100}, 32), window_of({110}, 32), window_of({120}, 32)};
  const std::vector test{window_of({150}, 32), window_of({130}, 32), window_of({140}, 32)};
  const auto whole = scaling_efficiency({base, 1}, {test, 1});
  const auto halved = scaling_efficiency({base, 1}, {test, 2});
  EXPECT_EQ(whole->basis, IntervalBasis::kRuns);
  EXPECT_TRUE(whole->interval->contains(whole->value));
  EXPECT_DOUBLE_EQ(halved->interval->low, whole->interval->low / 2);
  EXPECT_DOUBLE_EQ(halved->interval->high, whole->interval->high / 2);
}

TEST(ScalingEfficiency, OfOneRunEachHasTheIntervalOfItsSteps) {
  constexpr int kSimulations = 150;
  int hits = 0;
  for (int i = 0; i < kSimulations; ++i) {
    Random random(11, static_cast<std::uint64_t>(i));
    std::vector<RunWindow> runs;
    for (const double scale : {1.0, 2.0}) {
      RunWindow window{.step_ns = {{}}, .samples_per_step = 32};
      for (const double ms : simulated(random, 50, 0, normal_noise)) {
        window.step_ns[0].push_back(static_cast<std::int64_t>(scale * ms * 1e6));
      }
      runs.push_back(std::move(window));
    }
    const auto found =
        scaling_efficiency({std::span(runs).first(1), 1}, {std::span(runs).last(1), 1},
                           {.resamples = 200, .seed = static_cast<std::uint64_t>(i)});
    EXPECT_EQ(found->basis, IntervalBasis::kWithinRun);
    hits += found->interval->contains(0.5) ? 1 : 0;
  }
  EXPECT_NEAR(hits, 0.95 * kSimulations, kSimulations * binomial_error(0.95, kSimulations));
}

TEST(AggregateRate, StepsMayAddUpToMoreThanAnIntegerHolds) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  RunWindow window;
  window.step_ns = {{kMost, kMost}};
  window.samples_per_step = 1;
  const auto rate = aggregate_rate(std::vector{window});
  ASSERT_TRUE(rate);
  EXPECT_DOUBLE_EQ(rate->value, 1e9 / static_cast<double>(kMost));
}

}  // namespace
}  // namespace paceline::stats
