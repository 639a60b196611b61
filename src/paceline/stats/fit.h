// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

namespace paceline::stats {

/// Residuals of a model as functions of its unknowns.
struct FitProblem {
  std::size_t residuals = 0;

  /// Residual `i` at the given unknowns.
  std::function<double(std::size_t i, const std::vector<double>&)> residual;
};

struct FitOptions {
  int iterations = 15;
  /// Residuals beyond this count linearly (pseudo-Huber), so that a few cells
  /// that no model explains do not bend it.
  double scale = 0.02;
  double step = 2e-3;  // of the derivative, relative
};

/// The unknowns, all above zero, that minimize the sum of the squares of the
/// residuals; their logarithms are searched from `start` on by
/// Levenberg-Marquardt.  The first iteration moves no unknown by more than a
/// factor of e, however little the residuals depend on it.  More, SLNM 630,
/// 1978, doi:10.1007/BFb0067700.
std::vector<double> fit(const FitProblem& problem,
                        const std::vector<double>& start,
                        const FitOptions& options = {});

}  // namespace paceline::stats
