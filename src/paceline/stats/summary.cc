// SPDX-License-Identifier: Apache-2.0
#include "paceline/stats/summary.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "paceline/base/error.h"
#include "paceline/base/random.h"
#include "paceline/stats/bootstrap.h"
#include "paceline/stats/quantile.h"

namespace paceline::stats {
namespace {

constexpr double kSecondsPerNs = 1e-9;

double seconds(std::int64_t ns) { return static_cast<double>(ns) * kSecondsPerNs; }

// Returns the number of steps that all ranks with samples have in common.
std::size_t common_steps(RankSteps ranks) {
  std::size_t fewest = 0;
  for (const auto& steps : ranks) {
    if (!steps.empty()) {
      fewest = fewest == 0 ? steps.size() : std::min(fewest, steps.size());
    }
  }
  return fewest;
}

// Returns the steps, in seconds, of the rank whose first `count` steps take longest in sum.
std::vector<double> longest_rank_seconds(RankSteps ranks, std::size_t count) {
  std::vector<double> longest;
  double most = -1;
  for (const auto& steps : ranks) {
    if (steps.empty()) {
      continue;
    }
    std::vector<double> own;
    for (const std::int64_t step : std::span(steps).first(count)) {
      own.push_back(seconds(step));
    }
    const double sum = std::accumulate(own.begin(), own.end(), 0.0);
    if (sum > most) {
      most = sum;
      longest = std::move(own);
    }
  }
  return longest;
}

// One run: the number of examples that it processed, its wall time, and the steps that the
// bootstrap resamples.
struct MeasuredWindow {
  explicit MeasuredWindow(const RunWindow& window)
      : step_s(longest_rank_seconds(window.step_ns, common_steps(window.step_ns))),
        samples(window.samples_per_step * static_cast<double>(step_s.size())) {
    const double summed_s = std::accumulate(step_s.begin(), step_s.end(), 0.0);
    wall_s = window.wall_ns > 0 ? seconds(window.wall_ns) : summed_s;
    // The time between steps (and the shifts between ranks) is scaled along with the steps.
    scale = summed_s > 0 ? wall_s / summed_s : 1;
  }

  /// The steps of the rank whose steps sum to the longest time.  If ranks wait for only a few
  /// others, they are slow in different steps and still end together.  If the steps of every rank
  /// were drawn, the longest of their sums would exceed the window.
  std::vector<double> step_s;
  double samples;
  double wall_s = 0;
  double scale = 1;
};

/// Rates of resampled steps in examples/s, and the number of independent blocks of steps behind
/// them; empty if a run has too few steps.
struct DrawnRates {
  std::vector<double> rates;
  std::size_t blocks = 0;
};

DrawnRates draw_rates(const std::vector<MeasuredWindow>& windows, const IntervalOptions& options) {
  std::vector<std::size_t> block_lengths;
  DrawnRates drawn;
  for (const MeasuredWindow& window : windows) {
    if (window.step_s.size() < kFewestSteps) {
      return {};
    }
    block_lengths.push_back(block_length(window.step_s));
    drawn.blocks += window.step_s.size() / block_lengths.back();
  }
  std::vector<std::size_t> indices;
  for (std::size_t draw = 0; draw < options.resamples; ++draw) {
    Random random(options.seed, draw);
    std::vector<double> rates;
    for (std::size_t i = 0; i < windows.size(); ++i) {
      const std::vector<double>& step_s = windows[i].step_s;
      resample_blocks(step_s.size(), block_lengths[i], random, indices);
      double wall_s = 0;
      for (const std::size_t index : indices) {
        wall_s += windows[i].scale * step_s[index];
      }
      rates.push_back(windows[i].samples / wall_s);
    }
    drawn.rates.push_back(percentiles(rates)->p50);
  }
  return drawn;
}

std::optional<Interval> rate_within_runs(const std::vector<MeasuredWindow>& windows,
                                         const IntervalOptions& options) {
  DrawnRates drawn = draw_rates(windows, options);
  if (drawn.rates.empty()) {
    return std::nullopt;
  }
  return percentile_interval(std::move(drawn.rates), expanded_level(options.level, drawn.blocks));
}

/// Returns the interval of the ratio of two rates.  Returns nothing if there are no rates, or if
/// steps of an imported record take no time.
std::optional<Interval> ratio_within_runs(DrawnRates top, const DrawnRates& bottom, double level) {
  if (top.rates.empty() || bottom.rates.empty()) {
    return std::nullopt;
  }
  std::ranges::transform(top.rates, bottom.rates, top.rates.begin(), std::divides<>());
  const bool finite =
      std::ranges::all_of(top.rates, [](double ratio) { return std::isfinite(ratio); });
  return finite ? std::optional(percentile_interval(
                      std::move(top.rates),
                      expanded_level(level, std::min(top.blocks, bottom.blocks))))
                : std::nullopt;
}

/// The runs of a case that have steps.
struct MeasuredRuns {
  explicit MeasuredRuns(std::span<const RunWindow> all) {
    for (const RunWindow& window : all) {
      const MeasuredWindow run(window);
      if (run.step_s.empty() || run.wall_s <= 0) {
        continue;
      }
      windows.push_back(run);
      rates.push_back({run.samples / run.wall_s});
    }
  }

  std::vector<MeasuredWindow> windows;
  std::vector<std::vector<double>> rates;  // one "sample" per run
};

void widen_to_value(Estimate& estimate) {
  if (estimate.interval) {
    estimate.interval = estimate.interval->widened_to(estimate.value);
  }
}

void scale(Estimate& estimate, double factor) {
  estimate.value *= factor;
  if (estimate.interval) {
    estimate.interval->low *= factor;
    estimate.interval->high *= factor;
  }
}

}  // namespace

std::vector<double> slowest_rank_seconds(RankSteps ranks) {
  std::vector<double> slowest(common_steps(ranks), 0);
  for (const auto& steps : ranks) {
    for (std::size_t i = 0; !steps.empty() && i < slowest.size(); ++i) {
      slowest[i] = std::max(slowest[i], seconds(steps[i]));
    }
  }
  return slowest;
}

std::optional<Percentiles> percentiles(std::span<const double> samples) {
  if (samples.empty()) {
    return std::nullopt;
  }
  std::vector<double> sorted(samples.begin(), samples.end());
  std::sort(sorted.begin(), sorted.end());
  return Percentiles{.p50 = quantile_sorted(sorted, 0.50),
                     .p75 = quantile_sorted(sorted, 0.75),
                     .p90 = quantile_sorted(sorted, 0.90),
                     .p95 = quantile_sorted(sorted, 0.95)};
}

std::optional<StepSummary> summarize_steps(Runs runs, const IntervalOptions& options) {
  std::vector<double> all;
  for (const std::vector<double>& run : runs) {
    all.insert(all.end(), run.begin(), run.end());
  }
  const auto median = median_of_runs(runs, options);
  if (!median) {
    return std::nullopt;
  }
  return StepSummary{.runs = median->runs,
                     .steps = all.size(),
                     .median = *median,
                     .percentiles = *percentiles(all)};
}

std::optional<Estimate> aggregate_rate(std::span<const RunWindow> windows,
                                       const IntervalOptions& options) {
  const MeasuredRuns measured(windows);
  if (measured.windows.empty()) {
    return std::nullopt;
  }
  Estimate result = *median_of_runs(measured.rates, options);
  if (measured.windows.size() < kFewestRuns) {
    result.interval = rate_within_runs(measured.windows, options);
  }
  widen_to_value(result);
  return result;
}

std::optional<Estimate> scaling_efficiency(const ScalingCase& base, const ScalingCase& test,
                                           const IntervalOptions& options) {
  PACELINE_CHECK(base.ranks > 0 && test.ranks > 0);
  const MeasuredRuns below(base.windows);
  const MeasuredRuns above(test.windows);
  if (below.windows.empty() || above.windows.empty()) {
    return std::nullopt;
  }
  Estimate result = *ratio_of_medians(above.rates, below.rates, options);
  if (result.basis != IntervalBasis::kRuns) {
    // The base uses other streams, so that the steps of both are drawn independently.
    IntervalOptions others = options;
    others.seed = ~options.seed;
    result.interval = ratio_within_runs(draw_rates(above.windows, options),
                                        draw_rates(below.windows, others), options.level);
  }
  widen_to_value(result);
  scale(result, base.ranks / test.ranks);
  return result;
}

}  // namespace paceline::stats
