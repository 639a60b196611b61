// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "paceline/base/random.h"
#include "paceline/stats/interval.h"

namespace paceline::stats {

/// The block length that keeps the autocorrelation of `series` in a bootstrap of its mean; 1 for a
/// series without any.  Politis and White, Econometric Reviews 23(1), 2004, for the circular
/// scheme, with the correction of Patton, Politis and White, 28(4), 2009.
std::size_t block_length(std::span<const double> series);

/// How many independent samples tell as much about the median as `series`
/// does, at most as many as it has.
///
/// The variance of a median grows with the autocorrelations of the samples' signs about it.  Of
/// these only the one at lag 1 is estimated; the others follow as those of a normal process x_k =
/// rho x_(k-1) + e, whose signs correlate by (2 / pi) asin(rho^k), whatever the samples' own
/// distribution (Van Vleck and Middleton, Proc. IEEE 54(1), 1966).  Short series hide their
/// correlation: the estimate is corrected by (1 + 3 r) / n (Marriott and Pope, Biometrika 41,
/// 1954), and half a standard error is added.
double effective_samples(std::span<const double> series);

/// How much neighbors of `series` resemble each other: the autocorrelation at lag 1 that a normal
/// process with such signs about its median has, corrected for what short series hide, as above but
/// without the half standard error; from 0 to 1, 0 for fewer than 2 samples.
double neighbor_correlation(std::span<const double> series);

/// Whether an interval from the samples of this one run is likely too narrow: neighbors correlate
/// by more than 0.7, and there are fewer than 200.  Where they really do by 0.9, 60 to 91 % of such
/// intervals hold the true value, not 95; up to 0.6, and in longer runs, 90 % or more do
/// (docs/measuring.md).
bool hides_its_correlation(std::span<const double> series);

/// One circular moving-block resample of the indices 0 .. n-1: blocks of
/// `block` neighbors with random starts, the last one cut to fit.
void resample_blocks(std::size_t n, std::size_t block, Random& random,
                     std::vector<std::size_t>& indices);

/// The central `level` of the values that a statistic took on resamples.
Interval percentile_interval(std::vector<double> replicates, double level);

/// The level at which to take that interval of a mean-like statistic of data with only `blocks`
/// independent blocks, so that it is as wide as Student's t and the variance of few samples ask:
/// "expanded percentile", Hesterberg, The American Statistician 69(4), 2015, section 5.3.
double expanded_level(double level, std::size_t blocks);

}  // namespace paceline::stats
