// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

#include "paceline/base/random.h"

namespace paceline::aa {

/// How simulated runs scatter.  A step's time is
///   center * exp(run) * (1 + step_scatter * noise),
/// where `run` is drawn once a run, and the noise of neighboring steps has lag-1 autocorrelation
/// `rho`.
struct Scatter {
  double run = 0.01;    // standard deviation of log times between runs
  double step = 0.005;  // of the steps inside a run
  double rho = 0.6;
  int steps = 31;     // odd, so that a median is one of them
  double spikes = 0;  // share of steps that take three times as long
  /// Shapes a standard normal value; its median must stay 0.
  double (*shape)(double) = nullptr;
  double (*run_shape)(double) = nullptr;
};

/// A long upper tail, as step times have.
inline double skewed(double x) { return std::exp(0.7 * x) - 1; }

/// Tails of Student's t with 2 degrees of freedom: no variance at all.  Its quantile function is x
/// -> 2 (p - 1/2) sqrt(2 / (4 p (1 - p))), of which
/// this takes p = Phi(x).
inline double heavy(double x) {
  const double p = std::erfc(-x / std::sqrt(2.0)) / 2;
  const double safe = p < 1e-12 ? 1e-12 : p > 1 - 1e-12 ? 1 - 1e-12 : p;
  return (2 * safe - 1) / std::sqrt(2 * safe * (1 - safe));
}

/// Two levels, as where a job lands on one of two kinds of nodes.
inline double two_levels(double x) { return (x > 0 ? 1.0 : -1.0) + 0.02 * x; }

inline double shaped(double (*shape)(double), double x) { return shape == nullptr ? x : shape(x); }

/// The steps of one run about `center`, which is their median over all runs.
inline std::vector<double> simulate_steps(Random& random, const Scatter& scatter, double center,
                                          double run_value) {
  std::vector<double> steps;
  double x = random.normal();
  for (int i = 0; i < scatter.steps; ++i) {
    steps.push_back(center * std::exp(scatter.run * shaped(scatter.run_shape, run_value)) *
                    (1 + scatter.step * shaped(scatter.shape, x)));
    if (scatter.spikes > 0 && random.uniform() < scatter.spikes) {
      steps.back() *= 3;
    }
    x = scatter.rho * x + std::sqrt(1 - scatter.rho * scatter.rho) * random.normal();
  }
  return steps;
}

}  // namespace paceline::aa
