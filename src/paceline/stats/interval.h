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
  /// This interval, widened to `value` where that lies outside.
  Interval reaching(double value) const { return {std::min(low, value), std::max(high, value)}; }
  bool operator==(const Interval&) const = default;
};

/// What an interval speaks of.
enum class Basis : std::uint8_t {
  kWithinRun,  // the steps of one window: no evidence about another run
  kRuns        // repeated runs: what one more run would give
};

/// A figure and how sure we are of it.
struct Estimate {
  double value = 0;
  std::optional<Interval> interval{};  // absent: too few samples
  Basis basis = Basis::kWithinRun;
  std::size_t runs = 0;
  double level = 0.95;
};

struct IntervalOptions {
  double level = 0.95;
  std::size_t resamples = 1000;
  std::uint64_t seed = 0;
};

/// Fewer pairs of blocks get no interval.
inline constexpr std::size_t kFewestPairs = 3;

/// Runs of one case: the samples of each, in the order they were taken.
using Runs = std::span<const std::vector<double>>;

/// Steps of one run share its process, its placement and its neighbors, so
/// they say little about the next run.  From this many runs on, the run is the unit of every
/// interval here; below it, the intervals are `kWithinRun`.
inline constexpr std::size_t kFewestRuns = 3;
/// From here on, intervals over runs assume nothing about the distribution; below it, Student's t
/// on the run medians or their logarithms.
inline constexpr std::size_t kFewestRunsForOrder = 6;
/// A window with fewer steps gets no interval.
inline constexpr std::size_t kFewestSteps = 8;

/// The median of the run medians.  Its interval is, by the number of runs,
///   6 or more  two order statistics of the run medians, exact for any
///              distribution (coverage at least `level`)
///   3 to 5     of the logarithms of the run medians: mean +- t s / sqrt(n); of
///              the run medians themselves where one is not positive
///   1 or 2     bootstrap of the steps inside each run, of as many as they are
///              worth.
/// Empty runs are left out; nothing where no run has samples.
std::optional<Estimate> median_of_runs(Runs runs, const IntervalOptions& options = {});

/// median_of_runs(numerator) / median_of_runs(denominator), the two measured
/// in separate runs.  Its interval is, by the smaller number of runs,
///   6 or more  Mann and Whitney's test of the logarithms of the run medians,
///              turned around (rank_interval.h)
///   3 to 5     Welch's t on the logarithms of the run medians
///   1 or 2     bootstrap of the steps of both, in the same way.
/// All samples must be positive.
std::optional<Estimate> ratio_of_medians(Runs numerator, Runs denominator,
                                         const IntervalOptions& options = {});

/// The median over runs of median(minuend) - median(subtrahend), run k of both having been measured
/// in the same process or back to back, so that what slowed the one slowed the other.  Intervals as
/// in `median_of_runs`, of 3 to 5 runs without logarithms, since a difference may have either sign.
/// `minuend` and `subtrahend` hold equally many runs, none of them empty.
std::optional<Estimate> paired_difference(Runs minuend, Runs subtrahend,
                                          const IntervalOptions& options = {});

/// Where differences are centered that were measured in pairs whose order changes from pair to
/// pair, `runs` holding those of each run: the median over runs of each run's center (`center_of`).
/// Its interval is, by the number of runs,
///   3 or more  as of `paired_difference`, of the runs' centers
///   1 or 2     of all pairs together: from 6 on Wilcoxon's signed-rank test,
///              turned around, which holds for any distribution that is
///              symmetric, and each pair may have its own; of 3 to 5 mean
///              +- t s / sqrt(n); of fewer none.
/// Runs without pairs are left out; nothing where no run has any.
std::optional<Estimate> center_of_pairs(Runs runs, const IntervalOptions& options = {});

/// How many times larger the numerator is, run by run as above: with d the logarithms of
/// median(numerator) / median(denominator), all positive, the exponential of their center
/// (`center_of`).  Its interval is, by the number of runs,
///   6 or more  Wilcoxon's signed-rank test of d, turned around
///   3 to 5     mean of d +- t s / sqrt(n)
///   1 or 2     bootstrap of the steps inside each run, of as many as they are
///              worth.
std::optional<Estimate> paired_ratio(Runs numerator, Runs denominator,
                                     const IntervalOptions& options = {});

}  // namespace paceline::stats
