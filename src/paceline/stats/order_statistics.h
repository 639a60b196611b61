// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace paceline::stats {

/// Returns the mean of the k-th smallest of n independent standard normal variables, 1 <= k <= n <=
/// 64, to 1e-6: Harter, Biometrika 48, 1961, doi:10.1093/biomet/48.1-2.151.
double normal_order_statistic(int k, int n);

/// Returns the expected largest of n standard normal delays: the delay of the slowest of n ranks,
/// in standard deviations.
inline double slowest_delay_sd(int n) { return normal_order_statistic(n, n); }

}  // namespace paceline::stats
