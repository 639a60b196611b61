// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

namespace paceline::stats {

/// Quantile `p` in [0, 1] of `sorted` (ascending, not empty) by linear interpolation at index p *
/// (n - 1): Hyndman & Fan, 1996, type 7, which is numpy's default and so the original DDP
/// benchmark's.
double quantile_sorted(std::span<const double> sorted, double p);

/// Quantile `p`, as of quantile_sorted(), of samples in any order.
double quantile(std::span<const double> samples, double p);

double median(std::span<const double> samples);

/// The median without a copy of `samples`, which it leaves in another order.
double median_in_place(std::span<double> samples);

}  // namespace paceline::stats
