// SPDX-License-Identifier: Apache-2.0
#include "paceline/stats/quantile.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "paceline/base/error.h"

namespace paceline::stats {

double quantile_sorted(std::span<const double> sorted, double p) {
  PACELINE_CHECK(!sorted.empty());
  PACELINE_CHECK(p >= 0 && p <= 1);
  const double index = p * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(std::floor(index));
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  const double fraction = index - static_cast<double>(below);
  return sorted[below] + (sorted[above] - sorted[below]) * fraction;
}

double quantile(std::span<const double> samples, double p) {
  std::vector<double> sorted(samples.begin(), samples.end());
  std::sort(sorted.begin(), sorted.end());
  return quantile_sorted(sorted, p);
}

double median(std::span<const double> samples) {
  std::vector<double> copy(samples.begin(), samples.end());
  return median_in_place(copy);
}

double median_in_place(std::span<double> samples) {
  PACELINE_CHECK(!samples.empty());
  const std::size_t n = samples.size();
  const auto middle = samples.begin() + static_cast<std::ptrdiff_t>(n / 2);
  std::nth_element(samples.begin(), middle, samples.end());
  if (n % 2 == 1) {
    return *middle;
  }
  const double below = *std::max_element(samples.begin(), middle);
  return below + (*middle - below) * 0.5;
}

}  // namespace paceline::stats
