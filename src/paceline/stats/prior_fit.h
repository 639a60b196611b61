// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

namespace paceline::stats {

/// A model of measurements as a function of its unknowns.  Returns (computed - measured) of each
/// measurement, divided by the standard deviation of its error.
using Residuals = std::function<std::vector<double>(const std::vector<double>& unknowns)>;

struct PriorFit {
  std::vector<double> at;                         // the unknowns
  std::vector<std::vector<double>> covariance{};  // covariance of the unknowns' errors
  /// [k][i]: the change of unknown k when measurement i grows by one standard deviation of its
  /// error.
  std::vector<std::vector<double>> influence{};
};

/// Returns the most probable unknowns if each is, before any measurement, normally distributed
/// about 0 with standard deviation `prior`: they minimize the sum of the squares of the residuals
/// and of unknown / prior.  Uses Levenberg-Marquardt from `start` on, with forward differences of
/// 1e-3 min(prior, 1).  If `residuals` throws UsageError at a trial point, a smaller step is tried.
/// No unknown is above its element of `most`, unless `most` is empty; an unknown there that would
/// grow is kept in a step.
///
/// The covariance is that of the linearized problem without `most`, which is always regular: an
/// unknown on which no measurement depends keeps its prior.  Tarantola, Inverse Problem Theory,
/// SIAM 2005, section 3.2.
PriorFit fit_with_priors(const Residuals& residuals, const std::vector<double>& prior,
                         const std::vector<double>& start, const std::vector<double>& most = {});

/// As fit_with_priors(), but at the unknowns `at`, which need not be the most probable ones: the
/// covariance and the influence follow from the design of the measurements, not from their values.
PriorFit posterior_at(const Residuals& residuals, const std::vector<double>& prior,
                      const std::vector<double>& at);

}  // namespace paceline::stats
