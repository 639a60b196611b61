// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "paceline/plan/cost.h"
#include "paceline/strategies/strategy.h"

namespace paceline::strategies {

/// The same world under a strategy, seen from one rank.
inline Cost cost_of(const std::string& text, const PlanInput& input) {
  const auto planner = make_planner(parse_strategy(text));
  const auto setup = planner->setup(input);
  return cost(setup, planner->plan(input, setup, 0), input.rank);
}

}  // namespace paceline::strategies
