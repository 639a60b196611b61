// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

namespace paceline::stats {

/// A measured duration of an operation on `bytes` bytes.
struct SizedTime {
  double bytes = 0;
  double seconds = 0;
};

/// One piece of the alpha-beta model: t = alpha + beta * bytes for sizes from `from_bytes` on.
struct LinePiece {
  double from_bytes = 0;
  double alpha_s = 0;
  double beta_s_per_byte = 0;
};

struct LineFit {
  std::vector<LinePiece> pieces;  // in order; the first begins at 0
  double mean_error = 0;          // mean of |fit - time| / time over the points
};

/// Fits the piecewise alpha-beta model of some points, whose sizes may be in any order.
///
/// There are at most 4 pieces of at least 3 points each.  Every piece minimizes the sum of squared
/// relative errors, with alpha and beta not negative.  The borders between pieces minimize this sum
/// over all ways to cut the sorted points (dynamic programming).  The number of pieces minimizes
/// Schwarz's criterion, n ln(error / n) + 3 pieces ln n, where errors below 0.5 % count as 0.5 %,
/// so that exact points are not cut because of their rounding.  (Schwarz, Estimating the Dimension
/// of a Model, Annals of Statistics 6, 1978.)
///
/// Throws UsageError if there are fewer than two points, or if a time is not above 0.
LineFit fit_line(std::span<const SizedTime> points);

}  // namespace paceline::stats
