// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

namespace paceline::stats {

/// A measured duration of something of a size.
struct SizedTime {
  double bytes = 0;
  double seconds = 0;
};

/// t = alpha + beta * bytes from `from_bytes` on.
struct LinePiece {
  double from_bytes = 0;
  double alpha_s = 0;
  double beta_s_per_byte = 0;
};

struct LineFit {
  std::vector<LinePiece> pieces;  // the first from 0 on
  double mean_error = 0;          // mean of |fit - time| / time over the points
};

struct LineFitOptions {
  int max_pieces = 4;
  int points_per_piece = 3;  // at least
};

/// The piecewise alpha-beta model of some points, sizes in any order.
///
/// Every piece minimizes the sum of squared relative errors with alpha and
/// beta not negative; the borders minimize it over all ways to cut the sorted points (dynamic
/// programming); the number of pieces minimizes Schwarz's criterion, n ln(error / n) + 3 pieces ln
/// n, with errors below 0.5 % counted as 0.5 %, so that exact points are not cut for their
/// rounding.  (Schwarz, Estimating the Dimension of a Model, Annals of Statistics 6, 1978.)
///
/// Throws UsageError for fewer than two points, or one whose time is not
/// above 0.
LineFit fit_line(std::span<const SizedTime> points, const LineFitOptions& options = {});

}  // namespace paceline::stats
