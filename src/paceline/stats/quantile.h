// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

namespace paceline::stats {

/// Returns quantile `p` in [0, 1] of `sorted` (ascending, not empty) by linear interpolation at
/// index p * (n - 1): Hyndman & Fan, 1996, type 7, the default of numpy and therefore of the
/// original DDP benchmark.
double quantile_sorted(std::span<const double> sorted, double p);

/// Returns quantile `p`, as quantile_sorted() does, of samples in any order.
double quantile(std::span<const double> samples, double p);

double median(std::span<const double> samples);

/// Returns the median without copying `samples`; changes their order.
double median_in_place(std::span<double> samples);

}  // namespace paceline::stats
