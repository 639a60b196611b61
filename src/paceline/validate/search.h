// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "paceline/stats/fit.h"

namespace paceline::validate {

struct SearchOptions {
  int iterations = 10;                // of each descent
  double scale = 0.02;                // as in stats::FitOptions
  double wide = 2e-2, narrow = 2e-3;  // steps of the derivatives, relative
  double walk = 0.08;                 // first and last step of the walk
  double walk_end = 0.008;
  int sweeps = 2;        // over all unknowns, of each step
  double furthest = 30;  // factor by which an unknown may leave a start
};

/// The unknowns, all above zero, that minimize the loss of stats::fit() where
/// it has many minima: plans jump with the costs.  Descends from each start
/// with wide derivatives and from the best end with narrow ones; at last moves
/// one unknown at a time, by ever smaller steps, wherever that helps.
std::vector<double> search(const stats::FitProblem& problem,
                           const std::vector<std::vector<double>>& starts,
                           const SearchOptions& options = {});

}  // namespace paceline::validate
