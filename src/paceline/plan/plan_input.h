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
  std::string name;  // as in the state dict, for example layer4.2.conv3.weight
  std::vector<Elements> sizes{};
  Elements elements = 0;  // product of the sizes
  ModuleId module{};      // module whose forward pass reads the parameter
};

/// Whether the parameter has two or more dimensions.  Biases and parameters of normalizations have
/// at most one.
inline bool is_matrix(const ParameterShape& parameter) { return parameter.sizes.size() > 1; }

/// The properties of a network that planners use, traced from one real step or read from a profile.
struct ModelShape {
  std::string name;
  std::vector<std::string> modules;        // in forward order; each has a gate
  std::vector<ParameterShape> parameters;  // in registration order
  std::vector<ParameterId> ready_order;    // order in which backward finishes gradients
  DType dtype = DType::kF32;               // type of parameters and gradients

  /// The number of elements of all parameters.
  Elements elements() const {
    Elements sum = 0;
    for (const ParameterShape& parameter : parameters) {
      sum += parameter.elements;
    }
    return sum;
  }
  std::int64_t bytes() const { return elements() * size_of(dtype); }
};

/// The update rule and its number of state values per parameter element.
struct OptimizerShape {
  std::string name = "sgd";  // an update rule of plan/optimizer.h
  int state_buffers = 1;     // sgd has 1 with momentum, 0 without
};

/// Everything that the plan of one rank may depend on.
struct PlanInput {
  ModelShape model;
  OptimizerShape optimizer;
  Rank rank = 0;
  Rank world = 1;
  RanksPerHost local_world{};             // number of ranks on each host; empty: hosts are unknown
  int micro_batches = 1;                  // micro-batches per step (gradient accumulation)
  bool loss_scaling = false;              // whether the loss is scaled, Note [Loss scaling]
  double clip_norm = 0;                   // largest allowed norm of all gradients; 0: no limit
  std::optional<LayerProfile> profile{};  // layer times, equal on all ranks; for some planners
  std::optional<AlphaBeta> alpha_beta{};  // communication times, equal on all ranks

  /// The hosts of all ranks; one host if they are unknown.
  RanksPerHost hosts() const { return local_world.empty() ? RanksPerHost{world} : local_world; }
};

}  // namespace paceline::plan
