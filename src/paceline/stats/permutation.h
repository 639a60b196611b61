// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "paceline/stats/interval.h"

namespace paceline::stats {

/// A run that gave no value for a case.
inline constexpr double kNoValue = std::numeric_limits<double>::quiet_NaN();

/// One run of one side of a comparison: what each case gave in it.
struct Unit {
  std::size_t block = 0;         // runs of a block were taken next to each other
  bool test = false;             // else the base
  std::vector<double> values{};  // one a case: the run's median (or its
                                 // logarithm), or kNoValue
};

struct PermutationOptions {
  /// With more arrangements than these a sample of them is drawn.
  std::uint64_t most_arrangements = 1U << 20U;
  std::uint64_t draws = 99'999;
  std::uint64_t seed = 0;
};

struct PermutationResult {
  std::vector<double> p;            // two-sided, each case for itself
  std::vector<double> corrected_p;  // over all cases
  bool exact = true;                // every arrangement was looked at
  double arrangements = 1;          // how many there are
};

/// Whether the test runs differ from the base runs, tested by exchanging labels: were there no
/// difference, which of a block's runs are called "test" would be chance, and every arrangement of
/// the labels as likely as the one that was seen.  Nothing is assumed of the distribution; what a
/// run's processes, placement or neighbors do to all of its steps is in its value.
///
/// A run keeps its values together, so that cases measured in the same run
/// stay as dependent as they are.  The statistic of a case is
///   z = |sum over test runs of (value - block's mean)| / its standard
///       deviation over all arrangements,
/// for pairs sum(d) / sqrt(sum(d^2)).  A missing value counts as its block's mean.  p is the share
/// of arrangements with z at least as large as seen,
/// the seen one included; corrected, the share in which the largest z of this case and of those
/// with smaller z is (step-down max-T: Westfall and Young, Resampling-Based Multiple Testing, 1993,
/// algorithm 4.1), so that the chance of any false finding among all cases is at most the
/// significance.
///
/// With too many arrangements `draws` of them are drawn, and p is (1 + hits) / (1 + draws): Phipson
/// and Smyth, Stat. Appl. Genet. Mol. Biol. 9(1), 2010.
///
/// All units hold equally many values.
PermutationResult permutation_test(std::span<const Unit> units,
                                   const PermutationOptions& options = {});

/// The smallest p that a two-sided test of `runs` runs a side can give, either with one run of each
/// side in a block or with all of them in one.
double smallest_p(std::size_t runs, bool paired);

/// The fewest runs a side with which `smallest_p` is below `significance`.
std::size_t fewest_runs(double significance, bool paired);

/// About how many pairs of runs are needed to find a change by the factor exp(`log_change`) in one
/// of `cases` cases with probability `power`, when
/// the logarithm of a pair's ratio scatters with `log_sd`:
///   ((u + v) log_sd / log_change)^2 / (3/pi) + u^2 / 2
/// with normal quantiles u of the two-sided significance, shared between the cases, and v of the
/// power.  3/pi is what the interval's ranks cost beside the mean; the second term pays for the
/// scatter being estimated (Guenther, The American Statistician 35(4), 1981).  At least as many as
/// one case needs at its share of the significance.
std::size_t runs_for_power(double log_sd, double log_change, std::size_t cases = 1,
                           double power = 0.9, double significance = 0.05);

/// The change, as a share above 0, that so many runs a side find with probability `power`: the
/// inverse of runs_for_power().  Nothing where they are too few to prove any.
std::optional<double> change_for_power(double log_sd, std::size_t runs, std::size_t cases = 1,
                                       double power = 0.9, double significance = 0.05);

}  // namespace paceline::stats
