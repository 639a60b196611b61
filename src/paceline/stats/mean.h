// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

namespace paceline::stats {

/// Returns the mean of `samples`; there must be at least one.
double mean(std::span<const double> samples);

/// Returns the standard error of the mean of independent samples, at least two: the square root of
/// the sum of squared deviations over n (n - 1).
double standard_error(std::span<const double> samples);

}  // namespace paceline::stats
