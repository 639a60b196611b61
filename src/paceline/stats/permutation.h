// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "paceline/stats/interval.h"

namespace paceline::stats {

/// The element of LabeledRun::values for a case that the run has not measured.
inline constexpr double kNoValue = std::numeric_limits<double>::quiet_NaN();

/// One run on one side of a comparison, with the value that it gave for each case.
struct LabeledRun {
  std::size_t block = 0;         // runs with equal numbers were taken next to each other
  bool test = false;             // true: the test side; false: the base side
  std::vector<double> values{};  // by case: the run's median (or its logarithm), or kNoValue
};

struct PermutationOptions {
  /// The largest number of arrangements that is enumerated.  If there are more, `draws` of them are
  /// drawn at random.
  std::uint64_t most_arrangements = 1U << 20U;
  std::uint64_t draws = 99'999;
  std::uint64_t seed = 0;
};

struct PermutationResult {
  std::vector<double> p;            // for each case: two-sided p of the case by itself
  std::vector<double> corrected_p;  // for each case: p corrected for testing all cases
  bool exact = true;                // whether every arrangement was evaluated
  double arrangements = 1;          // number of arrangements of the labels
};

/// Tests whether the test runs differ from the base runs, by exchanging labels.  Without a
/// difference, chance alone decides which of a block's runs are called "test", and every
/// arrangement of the labels is as likely as the observed one.  The test assumes nothing about the
/// distribution; the effect of a run's processes, placement or neighbors on all of its steps is
/// part of the run's value.
///
/// A run's values stay together, so that the dependence between cases measured in the same run is
/// kept. The statistic of a case is
///   z = |sum over test runs of (value - block's mean)| / its standard
///       deviation over all arrangements,
/// for pairs sum(d) / sqrt(sum(d^2)).  A missing value counts as its block's mean.  p is the
/// fraction of arrangements, the observed one included, whose z is at least the observed z.  The
/// corrected p is the fraction in which the largest z among this case and the cases with smaller
/// observed z is at least that (step-down max-T: Westfall and Young, Resampling-Based Multiple
/// Testing, 1993, algorithm 4.1), so that the chance of any false finding among all cases is at
/// most the significance.
///
/// With too many arrangements, `draws` arrangements are drawn, and p is (1 + hits) / (1 + draws):
/// Phipson and Smyth, Stat. Appl. Genet. Mol. Biol. 9(1), 2010.
///
/// All units must hold equally many values.
PermutationResult permutation_test(std::span<const LabeledRun> units,
                                   const PermutationOptions& options = {});

/// Returns the smallest p that a two-sided test of `runs` runs per side can give.  If `paired`,
/// each block has one run of each side; otherwise one block has all runs.
double smallest_p(std::size_t runs, bool paired);

/// Returns the fewest runs per side with which `smallest_p` is below `significance`.
std::size_t fewest_runs(double significance, bool paired);

/// Returns about how many pairs of runs are needed to find a change by the factor exp(`log_change`)
/// in one of `cases` cases with probability `power`, if the logarithm of a pair's ratio has the
/// standard deviation `log_sd`:
///   ((u + v) log_sd / log_change)^2 / (3/pi) + u^2 / 2
/// with normal quantiles u of the two-sided significance, divided among the cases, and v of the
/// power. 3/pi is the efficiency of the interval's ranks relative to the mean; the second term
/// accounts for the scatter being estimated (Guenther, The American Statistician 35(4), 1981).  The
/// result is at least the number that one case needs at its share of the significance.
std::size_t runs_for_power(double log_sd, double log_change, std::size_t cases = 1,
                           double power = 0.9, double significance = 0.05);

}  // namespace paceline::stats
