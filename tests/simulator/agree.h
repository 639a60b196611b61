// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "paceline/simulator/simulate.h"

namespace paceline::simulator {

/// Costs of every kind, in numbers that do not divide each other.
Costs rough_costs(const plan::PlanInput& input);

/// Folded and unfolded agree in every op of every rank.
void expect_equal(const plan::Planner& planner, const plan::PlanInput& input, const Costs& costs,
                  plan::Step steps = 4);

}  // namespace paceline::simulator
