// SPDX-License-Identifier: Apache-2.0
#include "paceline/stats/line_fit.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "paceline/base/error.h"

namespace paceline::stats {
namespace {

constexpr double kSmallestError = 0.005;  // relative error; smaller errors count as this
constexpr std::size_t kMostPieces = 4;
constexpr std::size_t kLeastPointsPerPiece = 3;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Segment {
  LinePiece line;
  double error = kInfinity;  // sum of squared relative errors
};

double squared_error(std::span<const SizedTime> points, const LinePiece& line) {
  double sum = 0;
  for (const SizedTime& p : points) {
    const double relative = (line.alpha_s + line.beta_s_per_byte * p.bytes - p.seconds) / p.seconds;
    sum += relative * relative;
  }
  return sum;
}

// Fits by least squares with weights 1 / t^2.  If one coefficient comes out negative, it is set to
// 0 and the other is fitted alone.
Segment fit_segment(std::span<const SizedTime> points) {
  double w = 0, x = 0, y = 0, xx = 0, xy = 0;  // weighted sums
  for (const SizedTime& p : points) {
    const double weight = 1 / (p.seconds * p.seconds);
    w += weight;
    x += weight * p.bytes;
    y += weight * p.seconds;
    xx += weight * p.bytes * p.bytes;
    xy += weight * p.bytes * p.seconds;
  }
  LinePiece line{.from_bytes = points.front().bytes};
  const double determinant = w * xx - x * x;
  if (determinant > 1e-12 * w * xx) {
    line.beta_s_per_byte = (w * xy - x * y) / determinant;
    line.alpha_s = (y - line.beta_s_per_byte * x) / w;
  } else {
    line.alpha_s = y / w;  // all points have the same size
  }
  if (line.beta_s_per_byte < 0) {
    line.beta_s_per_byte = 0;
    line.alpha_s = y / w;
  } else if (line.alpha_s < 0) {
    line.alpha_s = 0;
    line.beta_s_per_byte = xy / xx;
  }
  return {line, squared_error(points, line)};
}

// The best ways to cut the sorted points into 1, 2, ... segments.
class Segmentations {
 public:
  explicit Segmentations(std::span<const SizedTime> points) : points_(points), best_(kMostPieces) {
    for (std::size_t k = 0; k < best_.size(); ++k) {
      best_[k].assign(points.size() + 1, {});
      for (std::size_t end = 1; end <= points.size(); ++end) {
        improve(k, end);
      }
    }
  }

  double error(std::size_t pieces) const { return best_[pieces - 1][points_.size()].error; }

  std::vector<LinePiece> lines(std::size_t pieces) const {
    std::vector<LinePiece> lines;
    std::size_t end = points_.size();
    for (std::size_t k = pieces; k-- > 0;) {
      const State& state = best_[k][end];
      lines.push_back(state.last);
      end = state.begin;
    }
    std::ranges::reverse(lines);
    return lines;
  }

 private:
  struct State {
    double error = kInfinity;
    std::size_t begin = 0;  // first point of the last piece
    LinePiece last{};
  };

  // Finds the best cut of the first `end` points into pieces 0 .. k.
  void improve(std::size_t k, std::size_t end) {
    State& state = best_[k][end];
    constexpr std::size_t kLeast = kLeastPointsPerPiece;
    const std::size_t first = k * kLeast;
    const std::size_t last = k == 0 || end <= kLeast ? 0 : end - kLeast;
    for (std::size_t begin = first; begin <= last; ++begin) {
      const double before = k == 0 ? 0 : best_[k - 1][begin].error;
      // A cut may not separate points of one size.
      const bool splits_a_size =
          begin > 0 && begin < end && points_[begin - 1].bytes == points_[begin].bytes;
      if (before == kInfinity || splits_a_size || begin >= end) {
        continue;
      }
      const Segment segment = fit_segment(points_.subspan(begin, end - begin));
      if (before + segment.error < state.error) {
        state = {before + segment.error, begin, segment.line};
      }
    }
  }

  std::span<const SizedTime> points_;
  std::vector<std::vector<State>> best_;  // [pieces - 1][points covered]
};

std::size_t best_number(const Segmentations& cuts, std::size_t points) {
  const auto n = static_cast<double>(points);
  std::size_t best = 1;
  double least = kInfinity;
  for (std::size_t k = 1; k <= kMostPieces; ++k) {
    if (cuts.error(k) == kInfinity) {
      break;
    }
    const double mean_square = std::max(cuts.error(k) / n, kSmallestError * kSmallestError);
    const double criterion = n * std::log(mean_square) + 3 * static_cast<double>(k) * std::log(n);
    if (criterion < least) {
      least = criterion;
      best = k;
    }
  }
  return best;
}

// Returns the fitted time in seconds.
double time_of(const LineFit& fit, double bytes) {
  PACELINE_CHECK(!fit.pieces.empty());
  const LinePiece* piece = &fit.pieces.front();
  for (const LinePiece& one : fit.pieces) {
    if (one.from_bytes <= bytes) {
      piece = &one;
    }
  }
  return piece->alpha_s + piece->beta_s_per_byte * bytes;
}

}  // namespace

LineFit fit_line(std::span<const SizedTime> points) {
  std::vector<SizedTime> sorted(points.begin(), points.end());
  std::ranges::stable_sort(sorted, {}, &SizedTime::bytes);
  if (sorted.size() < 2) {
    throw UsageError(fmt::format("a line needs at least 2 sizes; there are {}", sorted.size()));
  }
  for (const SizedTime& p : sorted) {
    if (!(p.seconds > 0) || !std::isfinite(p.seconds)) {
      throw UsageError(
          fmt::format("{} bytes took {} s; a fit needs times above 0", p.bytes, p.seconds));
    }
  }
  const Segmentations cuts(sorted);
  LineFit fit;
  fit.pieces = cuts.lines(best_number(cuts, sorted.size()));
  fit.pieces.front().from_bytes = 0;
  for (const SizedTime& p : sorted) {
    const double error = std::abs(time_of(fit, p.bytes) - p.seconds) / p.seconds;
    fit.mean_error += error / static_cast<double>(sorted.size());
  }
  return fit;
}

}  // namespace paceline::stats
