// SPDX-License-Identifier: Apache-2.0
#include "paceline/stats/order_statistics.h"

#include <cmath>
#include <map>
#include <numbers>
#include <utility>

#include "paceline/base/error.h"

namespace paceline::stats {
namespace {

/// Returns the mean of the k-th smallest of n standard normal variables, with pdf f and cdf F:
///
///   n! / ((k-1)! (n-k)!)  integral of  x f(x) F(x)^(k-1) (1 - F(x))^(n-k)
///
/// It uses the trapezoidal rule from -kBound to kBound, which converges fast, because the integrand
/// vanishes at both bounds.
double integrate_mean(int k, int n) {
  constexpr double kBound = 9;
  constexpr int kIntervals = 720;
  const double coefficient = std::exp(std::lgamma(n + 1) - std::lgamma(k) - std::lgamma(n - k + 1));
  double sum = 0;
  for (int i = 0; i <= kIntervals; ++i) {
    const double x = kBound * (2.0 * i / kIntervals - 1);
    const double cdf = std::erfc(-x / std::numbers::sqrt2) / 2;
    const double pdf = std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi);
    sum += x * pdf * std::pow(cdf, k - 1) * std::pow(1 - cdf, n - k);
  }
  return coefficient * sum * 2 * kBound / kIntervals;
}

}  // namespace

double normal_order_statistic(int k, int n) {
  PACELINE_CHECK(1 <= k && k <= n && n <= 64);
  thread_local std::map<std::pair<int, int>, double> cache;
  const auto [entry, inserted] = cache.try_emplace({k, n});
  if (inserted) {
    entry->second = integrate_mean(k, n);
  }
  return entry->second;
}

}  // namespace paceline::stats
