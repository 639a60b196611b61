// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "paceline/plan/plan_input.h"

namespace paceline::plan {

/// A model of modules with parameters of the given element counts; gradients become ready in the
/// reverse of registration order.
inline ModelShape toy_model(const std::vector<std::vector<Elements>>& modules) {
  ModelShape model{.name = "toy", .modules = {}, .parameters = {}, .ready_order = {}};
  for (std::size_t m = 0; m < modules.size(); ++m) {
    model.modules.push_back("layer" + std::to_string(m));
    for (std::size_t p = 0; p < modules[m].size(); ++p) {
      model.parameters.push_back({.name = model.modules.back() + ".p" + std::to_string(p),
                                  .sizes = {modules[m][p]},
                                  .elements = modules[m][p],
                                  .module = ModuleId{static_cast<std::int32_t>(m)}});
    }
  }
  for (std::size_t i = model.parameters.size(); i-- > 0;) {
    model.ready_order.push_back(ParameterId{static_cast<std::int32_t>(i)});
  }
  return model;
}

/// Four modules, seven parameters, 93 elements, none a multiple of the padding.
inline ModelShape small_model() { return toy_model({{20, 3}, {33}, {5, 1, 7}, {24}}); }

/// Layers that take 1 and 2 ns, exchanges of 3 ns and 10 ps a byte.
inline LayerProfile toy_profile(const ModelShape& model) {
  return {.origin = "toy",
          .forward = std::vector<Picoseconds>(model.modules.size(), 1'000),
          .backward = std::vector<Picoseconds>(model.parameters.size(), 2'000)};
}

inline AlphaBeta toy_alpha_beta(Rank world) {
  const AlphaBetaTime line{{{0, 3'000, 10}}};
  return {.origin = "toy",
          .world = world,
          .all_reduce = line,
          .reduce_scatter = line,
          .all_gather = line,
          .broadcast = line,
          .message = line};
}

inline PlanInput input_of(ModelShape model, Rank world, Rank rank = 0) {
  PlanInput input;
  input.profile = toy_profile(model);
  input.alpha_beta = toy_alpha_beta(world);
  input.model = std::move(model);
  input.rank = rank;
  input.world = world;
  return input;
}

inline OptimizerShape adamw() { return {.name = "adamw", .state_buffers = 2}; }

/// Three modules, two of them of two tensors; three tensors are matrices.
inline ModelShape tiny_model() {
  ModelShape model = toy_model({{9, 2}, {12}, {3, 6}});
  model.parameters[0].sizes = {3, 3};
  model.parameters[2].sizes = {3, 4};
  model.parameters[4].sizes = {2, 3};
  return model;
}

}  // namespace paceline::plan
