// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

#include "paceline/plan/strategy.h"

// How far predictions were off where published tables could tell: the error
// that a family of strategies has earned (docs/simulator.md, Examination).

namespace paceline::sim {

/// Strategies whose predictions rest on the same parts of the model.
struct Examined {
  std::string_view family;
  double error_percent = 0;  // mean absolute, of the throughput
  std::string_view how;      // on what, and what was left out of the fit
};

/// merged, scheduled, servers, reducer, neighbors.
std::span<const Examined> examined();

/// The family of a strategy; null: nothing published tells of it, and the
/// largest error of the table is as good as any.
const Examined* family_of(const plan::StrategySpec& strategy);

/// The error of the family, as a share of the step.
double earned_error(const plan::StrategySpec& strategy);

}  // namespace paceline::sim
