// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

namespace paceline::stats {

/// A model of measurements as a function of its unknowns: (computed - measured) of each
/// measurement, divided by the standard deviation of its error.
using Residuals = std::function<std::vector<double>(const std::vector<double>& unknowns)>;

struct PriorFit {
  std::vector<double> at;                         // the unknowns
  std::vector<std::vector<double>> covariance{};  // of the unknowns
  /// [k][i]: by how much unknown k moves when measurement i grows by one standard deviation of its
  /// error.
  std::vector<std::vector<double>> influence{};
};

/// The most probable unknowns where each is normally distributed about 0 before anything is
/// measured, with the standard deviations `prior`: those that minimize the sum of the squares of
/// the residuals and of unknown / prior. Levenberg-Marquardt from `start` on, with forward
/// differences of `step` priors.  Where `residuals` throws at a trial, a smaller step is tried.
///
/// The covariance is that of the linearized problem, which is always regular: an unknown that no
/// measurement depends on keeps its prior.  Tarantola, Inverse Problem Theory, SIAM 2005, section
/// 3.2.
PriorFit fit_with_priors(const Residuals& residuals, const std::vector<double>& prior,
                         const std::vector<double>& start);

/// The same at the unknowns `at`, whether or not they are the most probable ones: the covariance
/// and the influence follow from the design of the measurements, not from their values.
PriorFit posterior_at(const Residuals& residuals, const std::vector<double>& prior,
                      const std::vector<double>& at);

}  // namespace paceline::stats
