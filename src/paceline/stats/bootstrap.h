// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "paceline/base/random.h"
#include "paceline/stats/interval.h"

namespace paceline::stats {

/// Returns the block length that keeps the autocorrelation of `series` in a bootstrap of its mean;
/// 1 for a series without autocorrelation.  Politis and White, Econometric Reviews 23(1), 2004, for
/// the circular scheme, with the correction of Patton, Politis and White, 28(4), 2009.
std::size_t block_length(std::span<const double> series);

/// Returns the number of independent samples that carry as much information about the median as
/// `series` does; at most the length of `series`.
///
/// The variance of a median grows with the autocorrelations of the samples' signs about the median.
/// Only the autocorrelation at lag 1 is estimated.  Those at larger lags follow from a normal
/// process x_k = rho x_(k-1) + e, whose signs correlate by (2 / pi) asin(rho^k), whatever the
/// samples' own distribution (Van Vleck and Middleton, Proc. IEEE 54(1), 1966).  Short series hide
/// their correlation, so the estimate is corrected by (1 + 3 r) / n (Marriott and Pope, Biometrika
/// 41, 1954), and half a standard error is added.
double effective_samples(std::span<const double> series);

/// Returns the lag-1 autocorrelation of a normal process whose signs about the median correlate as
/// those of `series`.  It is corrected for short series as in effective_samples(), but without the
/// half standard error; it is from 0 to 1, and 0 for fewer than 2 samples.
double neighbor_correlation(std::span<const double> series);

/// Whether an interval from the samples of this one run is likely too narrow: the correlation of
/// neighbors exceeds 0.7, and there are fewer than 200 samples.  If the true correlation is 0.9, 60
/// to 91 % of such intervals contain the true value, instead of 95 %; up to 0.6, and in longer
/// runs, 90 % or more do (docs/measuring.md).
bool is_interval_too_narrow(std::span<const double> series);

/// Draws one circular moving-block resample of the indices 0 .. n-1: blocks of `block` neighbors
/// with random starts, the last block cut to fit.
void resample_blocks(std::size_t n, std::size_t block, Random& random,
                     std::vector<std::size_t>& indices);

/// Returns the central `level` of the values that a statistic took on resamples.
Interval percentile_interval(std::vector<double> replicates, double level);

/// Returns the level for percentile_interval() of a mean-like statistic of data with only `blocks`
/// independent blocks.  It makes the interval as wide as Student's t and the variance of few
/// samples require: "expanded percentile", Hesterberg, The American Statistician 69(4), 2015,
/// section 5.3.
double expanded_level(double level, std::size_t blocks);

}  // namespace paceline::stats
