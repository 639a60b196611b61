// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "paceline/stats/interval.h"

namespace paceline::stats {

/// One run as its ranks saw it: for each rank, its step times in nanoseconds. Ranks that took no
/// part have an empty vector and are left out everywhere;
/// a step counts when every other rank has it.
using RankSteps = std::span<const std::vector<std::int64_t>>;

/// The time of each step: the slowest rank's, in seconds.
std::vector<double> slowest_rank_seconds(RankSteps ranks);

/// Linear interpolation at index p (n - 1), as numpy does.
struct Percentiles {
  double p50 = 0;
  double p75 = 0;
  double p90 = 0;
  double p95 = 0;
};

/// Nothing where there are no samples.
std::optional<Percentiles> percentiles(std::span<const double> samples);

/// One case, summarized over its runs.  Times in seconds.
struct StepSummary {
  std::size_t runs = 0;
  std::size_t steps = 0;    // in all runs together
  Estimate median;          // over runs, see median_of_runs
  Percentiles percentiles;  // over all steps
};

/// `runs` holds the step times of each run, slowest rank first taken.  Nothing
/// where no run has a step.
std::optional<StepSummary> summarize_steps(Runs runs, const IntervalOptions& options = {});

/// One run's work for `aggregate_rate`.
struct Window {
  /// Step times of each rank, as in RankSteps.
  std::vector<std::vector<std::int64_t>> step_ns{};
  /// Wall time of all steps, slowest rank; 0: the largest sum of step times.
  std::int64_t wall_ns = 0;
  /// Samples (images, sequences) that all ranks processed in one step.
  double samples_per_step = 0;
};

/// Samples per second of the whole world: the median over runs of the samples of a run's window
/// over its wall time.  Its interval is, from 3 runs on, that of `median_of_runs`; below, a
/// moving-block bootstrap of the steps of the rank that took longest in each run.  The rate lies in
/// it.  Nothing where there is no step.
std::optional<Estimate> aggregate_rate(std::span<const Window> windows,
                                       const IntervalOptions& options = {});

/// One case of a scaling experiment.
struct ScalingCase {
  std::span<const Window> windows{};  // of each run
  double ranks = 1;                   // that process samples
};

/// The rate per rank of `test` over that of `base`, rates as `aggregate_rate` has them; 1 is linear
/// scaling.  Its interval is, from 3 runs of both on, that of `ratio_of_medians` of the runs'
/// rates; below, a moving-block bootstrap of the steps of both.  Nothing where a case has no step.
std::optional<Estimate> scaling_efficiency(const ScalingCase& base, const ScalingCase& test,
                                           const IntervalOptions& options = {});

}  // namespace paceline::stats
