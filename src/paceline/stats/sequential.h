// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "paceline/stats/interval.h"

namespace paceline::stats {

/// Fewer differences give no anytime-valid interval.
inline constexpr std::size_t kFewestForSequential = 3;

/// The evidence against "the differences have mean `mean`": an e-value, whose expectation is at
/// most 1 where they have it.  With t the one-sample t statistic of n differences about `mean`, nu
/// = n - 1 and g = 1 + n tau^2,
///   e = g^(-1/2) ((1 + t^2/nu) / (1 + t^2/(nu g)))^(n/2),
/// the likelihood ratio of the scale-free statistics when the effect, the mean in standard
/// deviations, has the prior N(0, tau^2).  The sequence of these values is a nonnegative martingale
/// of normal differences of any variance, so that the chance that it ever reaches 1/alpha is at
/// most alpha (Ville), whatever makes somebody stop.  Wang and Ramdas, "Anytime-valid t-tests and
/// confidence sequences for Gaussian means with unknown variance", 2023, arXiv:2310.03722, the test
/// martingale with a Gaussian mixture; Lai, Annals of Statistics 4(2), 1976.
///
/// A sign test that holds for any symmetric distribution needs six differences before it can reach
/// 5 %, however large they are; this test needs three. docs/measuring.md has how often it errs
/// where differences are not normal.
///
/// Nothing below kFewestForSequential differences, and where all of them are equal.
std::optional<double> sequential_evidence(std::span<const double> differences, double mean = 0);

/// All means against which the evidence is below 1 / `significance`: the confidence sequence of the
/// same paper.  It holds the mean after every number of differences at once with probability 1 -
/// `significance`.  Both ends are infinite where the differences are too few for the significance.
std::optional<Interval> sequential_interval(std::span<const double> differences,
                                            double significance = 0.05);

/// What ends a sequence of differences.
enum class SequentialEnd : std::uint8_t {
  kNone,
  kChanged,   // the interval lies beyond the threshold
  kUnchanged  // the interval lies between `low` and `high`
};

/// What is to be proven of the mean of logarithms of ratios.
struct SequentialGoal {
  double threshold = 0;      // a change counts only beyond this share
  double low = 0, high = 0;  // logarithms inside of which nothing changed
  double significance = 0.05;
};

SequentialEnd sequential_end(const Interval& interval, const SequentialGoal& goal);

/// About how many more differences end the sequence, if the mean and the scatter stay as they are;
/// nothing where a million do not.
std::optional<std::size_t> sequential_to_go(std::span<const double> differences,
                                            const SequentialGoal& goal);

}  // namespace paceline::stats
