// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace paceline::stats {

struct Interval {
  double low = 0;
  double high = 0;

  bool contains(double value) const { return low <= value && value <= high; }
  /// Returns this interval, widened to contain `value`.
  Interval widened_to(double value) const { return {std::min(low, value), std::max(high, value)}; }
  bool operator==(const Interval&) const = default;
};

/// The source of the variation that an interval covers.
enum class IntervalBasis : std::uint8_t {
  kWithinRun,  // the steps inside the runs: the interval says nothing about another run
  kRuns        // repeated runs: the interval predicts the value of one more run
};

/// An estimated quantity and its uncertainty.
struct Estimate {
  double value = 0;
  std::optional<Interval> interval{};  // absent: too few samples
  IntervalBasis basis = IntervalBasis::kWithinRun;
  std::size_t runs = 0;
  double level = 0.95;
};

struct IntervalOptions {
  double level = 0.95;
  std::size_t resamples = 1000;
  std::uint64_t seed = 0;
};

/// The smallest number of pairs from which an interval is computed.
inline constexpr std::size_t kFewestPairs = 3;

/// The runs of one case: the samples of each run, in the order in which they were taken.
using Runs = std::span<const std::vector<double>>;

/// The steps of one run have their process, its placement and its neighbors in common, so they say
/// little about the next run.  From this number of runs on, the run is the unit of every interval
/// here; with fewer runs, the intervals are `kWithinRun`.
inline constexpr std::size_t kFewestRuns = 3;
/// From this number of runs on, intervals over runs assume nothing about the distribution; with
/// fewer, they are Student's t of the run medians or of their logarithms.
inline constexpr std::size_t kFewestRunsForOrder = 6;
/// The smallest number of steps of a run from which an interval is computed.
inline constexpr std::size_t kFewestSteps = 8;

/// Returns the median of the run medians.  Its interval depends on the number of runs:
///   6 or more  two order statistics of the run medians, exact for any
///              distribution (coverage at least `level`)
///   3 to 5     mean +- t s / sqrt(n) of the logarithms of the run medians;
///              of the run medians themselves if one is not positive
///   1 or 2     bootstrap of the steps inside each run, each resample with
///              effective_samples() steps
/// Empty runs are left out; returns nothing if no run has samples.
std::optional<Estimate> median_of_runs(Runs runs, const IntervalOptions& options = {});

/// Returns median_of_runs(numerator) / median_of_runs(denominator), for runs that were measured
/// separately.  Its interval depends on the smaller number of runs:
///   6 or more  inversion of Mann and Whitney's test of the logarithms of the
///              run medians (rank_interval.h)
///   3 to 5     Welch's t on the logarithms of the run medians
///   1 or 2     bootstrap of the steps of both, as in median_of_runs()
/// All samples must be positive.
std::optional<Estimate> ratio_of_medians(Runs numerator, Runs denominator,
                                         const IntervalOptions& options = {});

/// Returns the median over runs of median(minuend) - median(subtrahend).  Run k of both must have
/// been measured in the same process or back to back, so that a disturbance slowed both. Intervals
/// are as in `median_of_runs`, but with 3 to 5 runs without logarithms, since a difference may have
/// either sign. `minuend` and `subtrahend` must hold equally many runs, none of them empty.
std::optional<Estimate> paired_difference(Runs minuend, Runs subtrahend,
                                          const IntervalOptions& options = {});

/// Returns the center of differences that were measured in pairs whose order changes from pair to
/// pair: the median over runs of each run's center (`center_of`).  `runs` holds the differences of
/// each run.  The interval depends on the number of runs:
///   3 or more  as in `paired_difference`, from the runs' centers
///   1 or 2     from all pairs together: with 6 or more pairs inversion of
///              Wilcoxon's signed-rank test, which holds if each pair's
///              distribution, whatever it is, is symmetric; with 3 to 5 mean
///              +- t s / sqrt(n); with fewer no interval
/// Runs without pairs are left out; returns nothing if no run has pairs.
std::optional<Estimate> center_of_pairs(Runs runs, const IntervalOptions& options = {});

/// Returns how many times larger the numerator is than the denominator, for runs paired as in
/// paired_difference(): the exponential of the center (`center_of`) of the logarithms d of
/// median(numerator) / median(denominator), which must be positive.  Its interval depends on the
/// number of runs:
///   6 or more  inversion of Wilcoxon's signed-rank test of d
///   3 to 5     mean of d +- t s / sqrt(n)
///   1 or 2     bootstrap of the steps inside each run, each resample with
///              effective_samples() steps
std::optional<Estimate> paired_ratio(Runs numerator, Runs denominator,
                                     const IntervalOptions& options = {});

}  // namespace paceline::stats
