// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>

namespace paceline::stats {

/// Returns P(Z <= z) for the standard normal distribution.
double normal_cdf(double z);

/// Returns the mean of the largest of `n` independent standard normal variables, 1 <= n <= 64, to
/// 1e-6: the delay of the slowest of n ranks, in standard deviations.  Harter, Biometrika 48, 1961,
/// doi:10.1093/biomet/48.1-2.151.
double slowest_delay_sd(int n);

/// Returns P(|T| <= t) of Student's t with `degrees` >= 1 degrees of freedom, for t >= 0, by exact
/// finite sums: Abramowitz and Stegun, 1964, 26.7.3 and 26.7.4.
double student_t_within(double t, int degrees);

/// Returns the t with P(|T| <= t) = `level`, 0 < level < 1.
double student_t_quantile(double level, int degrees);

/// Returns the largest k for which the k-th smallest and the k-th largest of `n` independent
/// samples enclose the median of any distribution with at least probability `level`: 1 - 2
/// P(Binomial(n, 1/2) < k) >= level.  Nothing if no k does, not even 1 (at 95 %: n < 6). David and
/// Nagaraja, Order Statistics, 2003, section 7.1.
std::optional<std::size_t> median_order(std::size_t n, double level);

}  // namespace paceline::stats
