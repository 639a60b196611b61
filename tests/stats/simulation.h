// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "paceline/base/random.h"

namespace paceline::stats {

/// `n` samples with median 10, of the kind that `noise` makes of a standard
/// normal value with autocorrelation `rho` at lag 1.
template <typename Noise>
std::vector<double> simulated(Random& random, int n, double rho, Noise noise) {
  std::vector<double> samples;
  double x = random.normal();
  for (int i = 0; i < n; ++i) {
    samples.push_back(10 + noise(x));
    x = rho * x + std::sqrt(1 - rho * rho) * random.normal();
  }
  return samples;
}

inline double normal_noise(double x) { return x; }

/// A long upper tail, as step times have; its median is 0.
inline double skewed_noise(double x) { return std::exp(0.7 * x) - 1; }

/// 4 standard deviations of a share that is `p` in truth.
inline double binomial_error(double p, int simulations) {
  return 4 * std::sqrt(p * (1 - p) / simulations);
}

}  // namespace paceline::stats
