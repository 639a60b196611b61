// SPDX-License-Identifier: Apache-2.0
#include "paceline/stats/distribution.h"

#include <cmath>
#include <map>
#include <numbers>

#include "paceline/base/error.h"

namespace paceline::stats {
namespace {

/// Returns the mean of the largest of n standard normal variables, with pdf f and cdf F: n times
/// the integral of x f(x) F(x)^(n-1).  It uses the trapezoidal rule from -kBound to kBound, which
/// converges fast, because the integrand vanishes at both bounds.
double integrate_largest(int n) {
  constexpr double kBound = 9;
  constexpr int kIntervals = 720;
  double sum = 0;
  for (int i = 0; i <= kIntervals; ++i) {
    const double x = kBound * (2.0 * i / kIntervals - 1);
    const double pdf = std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi);
    sum += x * pdf * std::pow(normal_cdf(x), n - 1);
  }
  return n * sum * 2 * kBound / kIntervals;
}

}  // namespace

double normal_cdf(double z) { return std::erfc(-z / std::numbers::sqrt2) / 2; }

double slowest_delay_sd(int n) {
  PACELINE_CHECK(1 <= n && n <= 64);
  thread_local std::map<int, double> cache;
  const auto [entry, inserted] = cache.try_emplace(n);
  if (inserted) {
    entry->second = integrate_largest(n);
  }
  return entry->second;
}

double student_t_within(double t, int degrees) {
  PACELINE_CHECK(degrees >= 1 && t >= 0);
  const double angle = std::atan(t / std::sqrt(degrees));
  const double cosine = std::cos(angle);
  const bool odd = degrees % 2 == 1;
  // The terms are cos^j, with j = 1, 3, ... or 0, 2, ... up to degrees - 2, each times the product
  // of the ratios (j + 1) / (j + 2) of the terms before it.
  double sum = 0;
  double term = odd ? cosine : 1;
  for (int j = odd ? 1 : 0; j <= degrees - 2; j += 2) {
    sum += term;
    term *= cosine * cosine * (j + 1) / (j + 2);
  }
  const double scaled = std::sin(angle) * sum;
  return odd ? 2 / std::numbers::pi * (angle + scaled) : scaled;
}

double student_t_quantile(double level, int degrees) {
  PACELINE_CHECK(level > 0 && level < 1);
  double low = 0;
  double high = 1;
  while (student_t_within(high, degrees) < level) {
    high *= 2;
  }
  for (int halving = 0; halving < 100; ++halving) {
    const double middle = (low + high) / 2;
    (student_t_within(middle, degrees) < level ? low : high) = middle;
  }
  return high;
}

std::optional<std::size_t> median_order(std::size_t n, double level) {
  PACELINE_CHECK(level > 0 && level < 1);
  const auto size = static_cast<double>(n);
  const auto probability = [&](std::size_t successes) {
    const auto k = static_cast<double>(successes);
    return std::exp(std::lgamma(size + 1) - std::lgamma(k + 1) - std::lgamma(size - k + 1) -
                    size * std::numbers::ln2);
  };
  double below = 0;  // P(Binomial(n, 1/2) < k)
  std::size_t k = 0;
  while (2 * k < n && 1 - 2 * (below + probability(k)) >= level) {
    below += probability(k);
    ++k;
  }
  return k == 0 ? std::nullopt : std::optional(k);
}

}  // namespace paceline::stats
