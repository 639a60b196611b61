// SPDX-License-Identifier: Apache-2.0
#include "paceline/stats/bootstrap.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>

#include "paceline/base/error.h"
#include "paceline/stats/distribution.h"
#include "paceline/stats/mean.h"
#include "paceline/stats/quantile.h"

namespace paceline::stats {
namespace {

// Returns the autocovariances of lag 0 .. `lags`, divided by n so that they form a covariance
// sequence.
std::vector<double> autocovariances(std::span<const double> series, std::size_t lags) {
  const double center = mean(series);
  std::vector<double> result;
  for (std::size_t lag = 0; lag <= lags; ++lag) {
    double sum = 0;
    for (std::size_t i = lag; i < series.size(); ++i) {
      sum += (series[i] - center) * (series[i - lag] - center);
    }
    result.push_back(sum / static_cast<double>(series.size()));
  }
  return result;
}

// Returns the smallest lag after which `quiet` consecutive autocorrelations are at most
// `threshold`.
std::size_t last_correlated_lag(std::span<const double> covariances, std::size_t quiet,
                                double threshold) {
  std::size_t last = 0;
  for (std::size_t lag = 1; lag < covariances.size() && lag <= last + quiet; ++lag) {
    if (std::abs(covariances[lag]) > threshold * covariances[0]) {
      last = lag;
    }
  }
  return last;
}

}  // namespace

std::size_t block_length(std::span<const double> series) {
  const std::size_t n = series.size();
  if (n < 4) {
    return 1;
  }
  const auto size = static_cast<double>(n);
  const auto quiet =
      std::max<std::size_t>(5, static_cast<std::size_t>(std::ceil(std::sqrt(std::log10(size)))));
  const std::size_t most_lags =
      std::min(n - 1, static_cast<std::size_t>(std::ceil(std::sqrt(size))) + quiet);
  const auto covariances = autocovariances(series, most_lags);
  if (covariances[0] <= 0) {
    return 1;
  }
  const std::size_t correlated =
      last_correlated_lag(covariances, quiet, 2 * std::sqrt(std::log10(size) / size));
  if (correlated == 0) {
    return 1;
  }
  // Sums the autocovariances with a flat-top lag window of width `width`.
  const std::size_t width = std::min(2 * correlated, most_lags);
  double spectrum = covariances[0];
  double slope = 0;
  for (std::size_t lag = 1; lag <= width; ++lag) {
    const double share = static_cast<double>(lag) / static_cast<double>(width);
    const double weight = share <= 0.5 ? 1 : 2 * (1 - share);
    spectrum += 2 * weight * covariances[lag];
    slope += 2 * weight * static_cast<double>(lag) * covariances[lag];
  }
  if (spectrum <= 0) {
    return 1;  // the series alternates: single samples overestimate its variance
  }
  const double length = std::cbrt(1.5 * size) * std::cbrt(slope * slope / (spectrum * spectrum));
  const double most = std::ceil(std::min(3 * std::sqrt(size), size / 3));
  return static_cast<std::size_t>(std::clamp(std::ceil(length), 1.0, most));
}

namespace {

// Returns the lag-1 correlation of the samples' signs about their median; nothing if all samples
// equal the median.
std::optional<double> sign_correlation(std::span<const double> series) {
  const double center = median(series);
  const auto sign = [&](std::size_t i) {
    return series[i] < center ? -1.0 : series[i] > center ? 1.0 : 0.0;
  };
  double squares = 0;
  double products = 0;
  for (std::size_t i = 0; i < series.size(); ++i) {
    squares += sign(i) * sign(i);
    products += i == 0 ? 0 : sign(i) * sign(i - 1);
  }
  return squares == 0 ? std::nullopt : std::optional(products / squares);
}

// Returns the lag-1 correlation of a normal process whose signs about the median correlate by `r`.
double normal_process_correlation(double r) {
  return std::sin(std::numbers::pi / 2 * std::clamp(r, 0.0, 0.98));
}

}  // namespace

double neighbor_correlation(std::span<const double> series) {
  const auto r = series.size() < 2 ? std::nullopt : sign_correlation(series);
  const auto size = static_cast<double>(series.size());
  return r ? normal_process_correlation(*r + (1 + 3 * *r) / size) : 0;
}

bool is_interval_too_narrow(std::span<const double> series) {
  constexpr double kHigh = 0.7;
  constexpr std::size_t kLong = 200;
  return series.size() < kLong && neighbor_correlation(series) > kHigh;
}

double effective_samples(std::span<const double> series) {
  const std::size_t n = series.size();
  const auto size = static_cast<double>(n);
  const auto signs = n < 2 ? std::nullopt : sign_correlation(series);
  if (!signs) {
    return size;
  }
  const double r = *signs;
  const double cautious = r + (1 + 3 * r) / size + std::sqrt(std::max(0.0, 1 - r * r) / size) / 2;
  const double rho = normal_process_correlation(cautious);
  double inflation = 1;
  double power = rho;
  for (std::size_t lag = 1; lag < n && power > 1e-6; ++lag, power *= rho) {
    inflation +=
        2 * (1 - static_cast<double>(lag) / size) * 2 / std::numbers::pi * std::asin(power);
  }
  return size / inflation;
}

void resample_blocks(std::size_t n, std::size_t block, Random& random,
                     std::vector<std::size_t>& indices) {
  PACELINE_CHECK(n > 0 && block > 0);
  indices.clear();
  while (indices.size() < n) {
    const auto start = static_cast<std::size_t>(random.below(n));
    for (std::size_t i = 0; i < block && indices.size() < n; ++i) {
      indices.push_back((start + i) % n);
    }
  }
}

Interval percentile_interval(std::vector<double> replicates, double level) {
  PACELINE_CHECK(!replicates.empty());
  std::sort(replicates.begin(), replicates.end());
  return {.low = quantile_sorted(replicates, (1 - level) / 2),
          .high = quantile_sorted(replicates, (1 + level) / 2)};
}

double expanded_level(double level, std::size_t blocks) {
  const auto count = static_cast<double>(std::max<std::size_t>(blocks, 2));
  const int degrees = static_cast<int>(count) - 1;
  const double tail =
      normal_cdf(-std::sqrt(count / (count - 1)) * student_t_quantile(level, degrees));
  return 1 - 2 * tail;
}

}  // namespace paceline::stats
