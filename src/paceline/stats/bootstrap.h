// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "paceline/base/random.h"
#include "paceline/stats/interval.h"

namespace paceline::stats {

/// The block length that keeps the autocorrelation of `series` in a bootstrap
/// of its mean; 1 for a series without any.  Politis and White, Econometric
/// Reviews 23(1), 2004, for the circular scheme, with the correction of Patton,
/// Politis and White, 28(4), 2009.
std::size_t block_length(std::span<const double> series);

/// The same for a bootstrap of the median, which depends on the order only of
/// the samples' signs about it.
std::size_t block_length_of_median(std::span<const double> series);

/// One circular moving-block resample of the indices 0 .. n-1: blocks of
/// `block` neighbors with random starts, the last one cut to fit.
void resample_blocks(std::size_t n,
                     std::size_t block,
                     Random& random,
                     std::vector<std::size_t>& indices);

/// The central `level` of the values that a statistic took on resamples.
Interval percentile_interval(std::vector<double> replicates, double level);

/// The level at which to take that interval of a mean-like statistic of data
/// with only `blocks` independent blocks, so that it is as wide as Student's t
/// and the variance of few samples ask: "expanded percentile", Hesterberg, The
/// American Statistician 69(4), 2015, section 5.3.
double expanded_level(double level, std::size_t blocks);

}  // namespace paceline::stats
