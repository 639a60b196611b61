// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace paceline::stats {

struct SteadyOptions {
  double significance = 0.001;  // the largest probability at which a cut counts as a change
  double least_shift = 0.01;    // a relative change of the median below this is ignored
  std::size_t permutations = 1999;
  std::uint64_t seed = 0;
};

/// Returns the first step of the steady state of a series of step times; nothing if the series
/// never settles.  It works in two stages.
///
/// 1. Lead-in: the longest beginning, at most half of the series, all of whose
///    samples lie more than 4 robust standard deviations (1.4826 MAD), and more
///    than `least_shift`, above the median of the second half.  The first
///    iterations of a job are so few that no rank test can detect them.
/// 2. The rest is cut at the largest |U_k| / sd(U_k), U_k = sum over i <= k <
///    j of sign(x_j - x_i) (Pettitt, Applied Statistics 28(2), 1979, made
///    comparable between k by its standard deviation), if a permutation of the
///    series reaches that value with a probability below `significance`.  The
///    part behind a cut is searched in the same way; if it has no cut, the cut
///    counts unless the medians of its sides differ by less than `least_shift`,
///    in which case the part before it is searched.  Samples are permuted
///    in blocks of neighbors, whose length follows from the autocorrelation, so
///    that drift of correlated noise does not count as a change.
///
/// The steps behind the last cut are the steady state if they are half of the series.
///
/// A disturbance in the middle, after which the old level returns, is not detected: the equal
/// levels on its two sides hide it.  It stays among the samples, where the percentiles show it.
///
/// The result is a function of the samples and the seed.  Cost: O(n) for each permutation, plus O(n
/// log n).
std::optional<std::size_t> first_steady_step(std::span<const double> samples,
                                             const SteadyOptions& options = {});

}  // namespace paceline::stats
