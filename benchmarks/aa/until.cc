// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "aa/aa.h"
#include "aa/simulate.h"
#include "paceline/stats/permutation.h"
#include "paceline/stats/quantile.h"
#include "paceline/stats/sequential.h"

namespace paceline::aa {
namespace {

constexpr int kHistories = 2000;
constexpr std::size_t kMostPairs = 50;
constexpr double kLevel = 0.05;

using History = std::vector<double>;  // log ratios of run medians, by pair

Scatter scatter_of(double (*run_shape)(double)) {
  Scatter scatter{.run = 0.015, .spikes = 0.03};
  scatter.run_shape = run_shape;
  return scatter;
}

std::vector<History> simulate(double planted, double (*run_shape)(double)) {
  const Scatter scatter = scatter_of(run_shape);
  std::vector<History> histories;
  for (int i = 0; i < kHistories; ++i) {
    Random random(58, static_cast<std::uint64_t>(i));
    History& history = histories.emplace_back();
    for (std::size_t pair = 0; pair < kMostPairs; ++pair) {
      const auto median = [&](double center) {
        return stats::median(simulate_steps(random, scatter, center, random.normal()));
      };
      const double base = median(0.1);
      history.push_back(std::log(median(0.1 * (1 + planted)) / base));
    }
  }
  return histories;
}

struct Ending {
  stats::SequentialEnd end = stats::SequentialEnd::kNone;
  std::size_t pairs = kMostPairs;
};

// Looked at after every pair.
Ending ending_of(const History& history, const stats::SequentialGoal& goal) {
  for (std::size_t n = stats::kFewestForSequential; n <= kMostPairs; ++n) {
    const auto interval =
        stats::sequential_interval(std::span(history).first(n), goal.significance);
    if (!interval) {
      continue;
    }
    if (const auto end = stats::sequential_end(*interval, goal);
        end != stats::SequentialEnd::kNone) {
      return {end, n};
    }
  }
  return {};
}

struct Outcome {
  double changed = 0, unchanged = 0, pairs = 0;  // shares, mean
};

Outcome outcome_of(const std::vector<History>& histories, const stats::SequentialGoal& goal) {
  Outcome outcome;
  for (const History& history : histories) {
    const Ending ending = ending_of(history, goal);
    outcome.changed += ending.end == stats::SequentialEnd::kChanged ? 1 : 0;
    outcome.unchanged += ending.end == stats::SequentialEnd::kUnchanged ? 1 : 0;
    outcome.pairs += static_cast<double>(ending.pairs);
  }
  for (double* sum : {&outcome.changed, &outcome.unchanged, &outcome.pairs}) {
    *sum /= static_cast<double>(histories.size());
  }
  return outcome;
}

// The share of histories of which the first `pairs` pairs alone, looked at once, prove a change as
// `paceline diff` does.
double fixed_power(const std::vector<History>& histories, std::size_t pairs) {
  double proven = 0;
  for (std::size_t i = 0; i < histories.size(); ++i) {
    std::vector<stats::LabeledRun> units;
    for (std::size_t pair = 0; pair < pairs; ++pair) {
      units.push_back({.block = pair, .test = false, .values = {0}});
      units.push_back({.block = pair, .test = true, .values = {histories[i][pair]}});
    }
    const auto tested =
        stats::permutation_test(units, {.most_arrangements = 1U << 11U, .draws = 1'999, .seed = i});
    proven += tested.p[0] < kLevel ? 1 : 0;
  }
  return proven / static_cast<double>(histories.size());
}

// The fewest pairs of a fixed plan with at least this power, which grows with their number.
std::optional<std::size_t> fixed_plan(const std::vector<History>& histories, double power) {
  std::size_t low = stats::fewest_runs(kLevel, true) - 1;
  std::size_t high = kMostPairs + 1;
  while (high - low > 1) {
    const std::size_t middle = low + (high - low) / 2;
    (fixed_power(histories, middle) < power ? low : high) = middle;
  }
  return high > kMostPairs ? std::nullopt : std::optional(high);
}

}  // namespace

void print_until() {
  fmt::print(
      "until a change is proven, looked at after each of at most {} pairs; {} histories;\nruns "
      "scatter by 1.5 %, their steps by 0.5 % with autocorrelation 0.6, 3 % of the steps take "
      "three times as long\n\n"
      "equals: claimed to differ, in %\n",
      kMostPairs, kHistories);
  const auto shapes =
      std::to_array<std::pair<const char*, double (*)(double)>>({{"normal", nullptr},
                                                                 {"long tail", skewed},
                                                                 {"heavy tails", heavy},
                                                                 {"two levels", two_levels}});
  for (const auto& [name, shape] : shapes) {
    fmt::print("{:>12} {:>6.1f}\n", name, 100 * outcome_of(simulate(0, shape), {}).changed);
  }
  fmt::print("\n{:>8} {:>8} {:>11} {:>11} {:>6}\n", "change", "found %", "mean pairs", "fixed plan",
             "ratio");
  for (const double planted : {0.01, 0.02, 0.03, 0.04, 0.06, 0.08, 0.1}) {
    const std::vector<History> histories = simulate(planted, nullptr);
    const Outcome outcome = outcome_of(histories, {});
    const auto plan = fixed_plan(histories, outcome.changed);
    fmt::print("{:>6.0f} % {:>8.1f} {:>11.1f} {:>11} {:>6}\n", 100 * planted, 100 * outcome.changed,
               outcome.pairs, plan ? fmt::to_string(*plan) : fmt::format("> {}", kMostPairs),
               plan ? fmt::format("{:.2f}", outcome.pairs / static_cast<double>(*plan)) : "");
  }
  const stats::SequentialGoal goal{.low = std::log1p(-0.02), .high = std::log1p(0.02)};
  fmt::print(
      "\nuntil a change is proven, or proven smaller than 2 %\n"
      "{:>8} {:>10} {:>14} {:>11}\n",
      "change", "changed %", "not changed %", "mean pairs");
  for (const double planted : {0.0, 0.005, 0.01, 0.02, 0.04}) {
    const Outcome outcome = outcome_of(simulate(planted, nullptr), goal);
    fmt::print("{:>6.1f} % {:>10.1f} {:>14.1f} {:>11.1f}\n", 100 * planted, 100 * outcome.changed,
               100 * outcome.unchanged, outcome.pairs);
  }
}

}  // namespace paceline::aa
