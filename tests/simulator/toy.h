// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "paceline/plan/comm_plan.h"
#include "paceline/plan/plan_input.h"
#include "paceline/simulator/simulate.h"

namespace paceline::simulator {

inline constexpr plan::Picoseconds kUs = 1'000'000;

/// `layers` modules, each with one parameter of 250 elements (1000 bytes,
/// padded to 1024).
plan::PlanInput toy_input(int layers, plan::Rank world);

/// Forward 10 us and backward 20 us a layer; links of 1 byte per ns without latency; software costs
/// nothing.
Costs toy_costs(const plan::PlanInput& input);

/// `world` ranks on hosts of `local` each, the last maybe smaller.
std::vector<plan::Rank> hosts_of(plan::Rank world, plan::Rank local);

std::unique_ptr<plan::Planner> planner_of(const std::string& strategy);

}  // namespace paceline::simulator
