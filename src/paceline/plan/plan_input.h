// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "paceline/plan/alpha_beta.h"
#include "paceline/plan/comm_plan.h"
#include "paceline/plan/profile.h"
#include "paceline/plan/ranks_per_host.h"

namespace paceline::plan {

struct ParameterShape {
  std::string name;  // as in the state dict: layer4.2.conv3.weight
  std::vector<Elements> sizes{};
  Elements elements = 0;  // product of the sizes
  ModuleId module{};      // the gated unit whose forward reads it
};

/// Not a bias or a normalization, which have at most one dimension.
inline bool is_matrix(const ParameterShape& parameter) { return parameter.sizes.size() > 1; }

/// What a planner may know of a network.  Traced from one real step, or read from a profile.
struct ModelShape {
  std::string name;
  std::vector<std::string> modules;        // gated units, in forward order
  std::vector<ParameterShape> parameters;  // in registration order
  std::vector<ParameterId> ready_order;    // gradients, as backward ends them
  DType dtype = DType::kF32;               // of parameters and gradients

  /// Of all parameters.
  Elements elements() const {
    Elements sum = 0;
    for (const ParameterShape& parameter : parameters) {
      sum += parameter.elements;
    }
    return sum;
  }
  std::int64_t bytes() const { return elements() * size_of(dtype); }
};

/// The update rule's shape: how many state buffers an element has.
struct OptimizerShape {
  std::string name = "sgd";  // a rule of plan/optimizer.h
  int state_buffers = 1;     // sgd with momentum 1, without 0
};

/// Everything that a plan may depend on, on one rank.
struct PlanInput {
  ModelShape model;
  OptimizerShape optimizer;
  Rank rank = 0;
  Rank world = 1;
  RanksPerHost local_world{};             // empty: not known
  int micro_batches = 1;                  // gradient accumulation
  bool loss_scaling = false;              // the loss is scaled, Note [Loss scaling]
  double clip_norm = 0;                   // largest norm of all gradients; 0: any
  std::optional<LayerProfile> profile{};  // for planners that look at times,
  std::optional<AlphaBeta> alpha_beta{};  // equal on all ranks

  /// The hosts of all ranks; one host where they are not known.
  RanksPerHost hosts() const { return local_world.empty() ? RanksPerHost{world} : local_world; }
};

}  // namespace paceline::plan
