// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include "paceline/plan/plan_input.h"
#include "paceline/strategies/plan_words.h"

namespace paceline::strategies {

/// The plan input of a network of `layers` small layers, for questions that do not depend on the
/// network.
inline PlanInput smallest_job(Rank world, int layers = 1) {
  PlanInput input;
  input.model.name = "layers";
  for (int layer = 0; layer < layers; ++layer) {
    const std::string name = fmt::format("layer{}", layer);
    input.model.modules.push_back(name);
    input.model.parameters.push_back({.name = name + ".weight",
                                      .sizes = {2, 2},
                                      .elements = 4,
                                      .module = plan::ModuleId{layer}});
    input.model.ready_order.push_back(plan::ParameterId{layers - 1 - layer});
  }
  input.world = world;
  return input;
}

}  // namespace paceline::strategies
