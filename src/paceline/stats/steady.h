// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace paceline::stats {

struct SteadyOptions {
  double significance = 0.001;  // of one change point
  double least_shift = 0.01;    // a smaller change of the median is no change
  std::size_t permutations = 1999;
  std::uint64_t seed = 0;
};

struct SteadyState {
  /// The first step of the steady state; nothing where the series ends in a segment of less than
  /// half its length, so that it never settled.
  std::optional<std::size_t> first;
  /// The first step of every segment but the first one, in order.
  std::vector<std::size_t> changes;
};

/// Finds where a series of step times becomes steady, in two moves.
///
/// 1. Lead-in: the longest beginning, at most half of the series, all of whose
///    samples lie more than 4 robust standard deviations (1.4826 MAD), and more
///    than `least_shift`, above the median of the second half.  The first
///    iterations of a job are so few that no rank test can see them.
/// 2. The rest is cut at the largest |U_k| / sd(U_k), U_k = sum over i <= k <
///    j of sign(x_j - x_i) (Pettitt, Applied Statistics 28(2), 1979, made
///    comparable between k by its standard deviation), if a permutation of the
///    series reaches that value with a probability below `significance`; both
///    sides are searched in the same way, and neighboring segments whose
///    medians differ by less than `least_shift` are joined again.  Neighbors
///    are permuted in blocks, as long as their autocorrelation asks: drift of
///    correlated noise is no change.
///
/// The last segment is the steady state if it holds half of the series.
///
/// What it cannot see: a disturbance in the middle after which the old level returns is hidden by
/// the equal levels on its two sides.  It stays among the samples, where the percentiles show it.
///
/// The answer is a function of the samples and the seed.  Cost: O(n) for each permutation, O(n log
/// n) else.
SteadyState find_steady_state(std::span<const double> samples, const SteadyOptions& options = {});

}  // namespace paceline::stats
