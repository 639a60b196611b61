// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "paceline/stats/interval.h"

namespace paceline::stats {

/// With fewer differences there is no anytime-valid interval.
inline constexpr std::size_t kFewestForSequential = 3;

/// Returns the evidence against "the differences have mean `mean`": an e-value, whose expectation
/// is at most 1 if they have this mean.  With t the one-sample t statistic of n differences about
/// `mean`, nu = n - 1 and g = 1 + n tau^2,
///   e = g^(-1/2) ((1 + t^2/nu) / (1 + t^2/(nu g)))^(n/2),
/// the likelihood ratio of the scale-free statistics if the effect, which is the mean in standard
/// deviations, has the prior N(0, tau^2).  For normal differences of any variance the sequence of
/// these values is a nonnegative martingale, so the chance that it ever reaches 1/alpha is at most
/// alpha (Ville), whatever the stopping rule.  Wang and Ramdas, "Anytime-valid t-tests and
/// confidence sequences for Gaussian means with unknown variance", 2023, arXiv:2310.03722, the test
/// martingale with a Gaussian mixture; Lai, Annals of Statistics 4(2), 1976.
///
/// A sign test, which holds for any symmetric distribution, needs six differences before it can
/// reach 5 %, however large they are; this test needs three.  docs/measuring.md says how often it
/// errs if differences are not normal.
///
/// Returns nothing below kFewestForSequential differences, and if all differences are equal.
std::optional<double> sequential_evidence(std::span<const double> differences, double mean = 0);

/// Returns all means against which the evidence is below 1 / `significance`: the confidence
/// sequence of the same paper.  With probability 1 - `significance` it contains the mean after
/// every number of differences at once.  Both ends are infinite if there are too few differences
/// for the significance.
std::optional<Interval> sequential_interval(std::span<const double> differences,
                                            double significance = 0.05);

/// The reason for which a sequence of differences ends.
enum class SequentialEnd : std::uint8_t {
  kNone,
  kChanged,   // the interval lies beyond the threshold
  kUnchanged  // the interval lies between `low` and `high`
};

/// The claim about the mean of logarithms of ratios at which a sequence of differences ends.
struct SequentialGoal {
  double threshold = 0;      // a change beyond this fraction counts; smaller ones do not
  double low = 0, high = 0;  // logarithms of ratios between which a change counts as none
  double significance = 0.05;
};

SequentialEnd sequential_end(const Interval& interval, const SequentialGoal& goal);

/// Returns about how many more differences are needed to end the sequence if the mean and the
/// scatter stay the same; nothing if a million more do not.
std::optional<std::size_t> remaining_sequential_differences(std::span<const double> differences,
                                                            const SequentialGoal& goal);

}  // namespace paceline::stats
