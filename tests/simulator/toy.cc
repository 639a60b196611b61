// SPDX-License-Identifier: Apache-2.0
#include "simulator/toy.h"

#include <algorithm>

#include <fmt/format.h>

#include "paceline/strategies/strategy.h"

namespace paceline::simulator {

plan::PlanInput toy_input(int layers, plan::Rank world) {
  plan::PlanInput input;
  input.model.name = "toy";
  input.world = world;
  for (int i = 0; i < layers; ++i) {
    input.model.modules.push_back(fmt::format("layer{}", i));
    input.model.parameters.push_back({.name = fmt::format("layer{}.weight", i),
                                      .sizes = {250},
                                      .elements = 250,
                                      .module = plan::ModuleId{i}});
    input.model.ready_order.push_back(plan::ParameterId{layers - 1 - i});
  }
  input.profile = toy_costs(input).profile;
  input.alpha_beta = plan::AlphaBeta{};
  input.alpha_beta->all_reduce = plan::alpha_beta_time_of(1e-6, 1e-9);
  return input;
}

Costs toy_costs(const plan::PlanInput& input) {
  Costs costs;
  costs.profile.forward.assign(input.model.modules.size(), 10 * kUs);
  costs.profile.backward.assign(input.model.parameters.size(), 20 * kUs);
  return costs;
}

std::vector<plan::Rank> hosts_of(plan::Rank world, plan::Rank local) {
  std::vector<plan::Rank> hosts;
  for (plan::Rank left = world; left > 0; left -= hosts.back()) {
    hosts.push_back(std::min(left, local));
  }
  return hosts;
}

std::unique_ptr<plan::Planner> planner_of(const std::string& strategy) {
  return strategies::make_planner(strategies::parse_strategy(strategy));
}

}  // namespace paceline::simulator
