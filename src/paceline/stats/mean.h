// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

namespace paceline::stats {

/// The mean of `samples`, of which there is at least one.
double mean(std::span<const double> samples);

/// Standard error of the mean of independent samples, at least two: the root of the squares' sum
/// over n (n - 1).
double standard_error(std::span<const double> samples);

}  // namespace paceline::stats
