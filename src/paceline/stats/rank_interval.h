// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "paceline/stats/interval.h"

namespace paceline::stats {

/// Intervals by inversion of exact rank tests: an interval contains all shifts that the test would
/// not reject.  Their coverage is at least their level for any distribution, and for nearly normal
/// data they are hardly wider than Student's t (asymptotic efficiency 3/pi).  Hollander, Wolfe and
/// Chicken, Nonparametric Statistical Methods, 2014, sections 3.2, 3.3, 4.2 and 4.3.

/// Returns the largest k for which P(T < k) <= (1 - level) / 2, where T is the sum of the positive
/// ranks of `n` values that are symmetric about 0 (Wilcoxon's signed rank); 0 if there is none.
std::size_t signed_rank_order(std::size_t n, double level);

/// Returns the largest k for which P(U < k) <= (1 - level) / 2, where U is Mann and Whitney's
/// statistic of `m` and `n` values of one distribution; 0 if there is none.
std::size_t rank_sum_order(std::size_t m, std::size_t n, double level);

/// Returns the center of the values: the median of the means of all pairs of values, including each
/// value with itself (Hodges and Lehmann 1963).  There must be at least one value.
double center_of(std::span<const double> values);

/// Returns an interval of that center, for values that are symmetric about it, as differences of
/// exchangeable pairs are.  Nothing below 6 values at 95 %.
std::optional<Interval> signed_rank_interval(std::span<const double> values, double level);

/// Returns an interval of the shift of `a` from `b`, for two samples that differ only by a shift.
/// Nothing if they are too few (at 95 %: 4 and 4).
std::optional<Interval> rank_sum_interval(std::span<const double> a, std::span<const double> b,
                                          double level);

}  // namespace paceline::stats
