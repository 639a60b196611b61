// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "paceline/stats/interval.h"

namespace paceline::stats {

/// The step times of one run: for each rank, in nanoseconds.  Ranks that took no part have an empty
/// vector and are ignored everywhere; a step counts if every other rank has it.
using RankSteps = std::span<const std::vector<std::int64_t>>;

/// Returns the time of each step, which is that of the slowest rank, in seconds.
std::vector<double> slowest_rank_seconds(RankSteps ranks);

/// Percentiles by linear interpolation at index p (n - 1), as in numpy.
struct Percentiles {
  double p50 = 0;
  double p75 = 0;
  double p90 = 0;
  double p95 = 0;
};

/// Returns the percentiles of the samples; nothing if there are none.
std::optional<Percentiles> percentiles(std::span<const double> samples);

/// One case, summarized over its runs.  Times are in seconds.
struct StepSummary {
  std::size_t runs = 0;
  std::size_t steps = 0;    // number of steps of all runs together
  Estimate median;          // the estimate of median_of_runs()
  Percentiles percentiles;  // percentiles over the steps of all runs
};

/// `runs` holds the step times of each run, of the slowest rank (slowest_rank_seconds()).  Returns
/// nothing if no run has a step.
std::optional<StepSummary> summarize_steps(Runs runs, const IntervalOptions& options = {});

/// The step times, duration and number of examples of one run.
struct RunWindow {
  /// Step times of each rank, as in RankSteps.
  std::vector<std::vector<std::int64_t>> step_ns{};
  /// Wall time of all steps on the slowest rank; 0: the largest sum of step times is used.
  std::int64_t wall_ns = 0;
  /// Examples (images, sequences) that all ranks processed together in one step.
  double samples_per_step = 0;
};

/// Returns examples per second of the whole world: the median over runs of (examples in a run's
/// window) / (its wall time).  With 3 runs or more, its interval is that of `median_of_runs`; with
/// fewer, it is a moving-block bootstrap of the steps of the rank that took longest in each run.
/// The interval contains the rate.  Returns nothing if there is no step.
std::optional<Estimate> aggregate_rate(std::span<const RunWindow> windows,
                                       const IntervalOptions& options = {});

/// One case of a scaling experiment.
struct ScalingCase {
  std::span<const RunWindow> windows{};  // one per run
  double ranks = 1;                      // number of ranks that process examples
};

/// Returns the rate per rank of `test` over that of `base`, with rates as in `aggregate_rate`; 1 is
/// linear scaling.  If both have 3 runs or more, its interval is that of `ratio_of_medians` of the
/// runs' rates; otherwise it is a moving-block bootstrap of the steps of both.  Nothing if a case
/// has no step.
std::optional<Estimate> scaling_efficiency(const ScalingCase& base, const ScalingCase& test,
                                           const IntervalOptions& options = {});

}  // namespace paceline::stats
