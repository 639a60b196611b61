// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "paceline/networks/batch.h"
#include "paceline/networks/layer.h"
#include "paceline/plan/plan_input.h"

namespace paceline::runtime {

/// A network together with what was learned from one traced step; or the
/// parameters of one that is not there, whose gates somebody else passes.
struct TracedNetwork {
  std::shared_ptr<networks::Network> network;  // null: not there
  plan::ModelShape shape;
  std::vector<networks::Gated*> gated;  // by ModuleId; null: the root's gate
  std::vector<at::Tensor> parameters;   // by ParameterId
};

/// Runs one forward and backward of `batch` to learn the order of modules and
/// of gradients; parameters, gradients and statistics are left as they were.
///
/// A parameter outside every gated layer that runs belongs to the root's unit,
/// which is entered first.  A parameter that gets no gradient comes last in the
/// ready order.
TracedNetwork trace(std::shared_ptr<networks::Network> network,
                    const std::string& name,
                    const networks::Batch& batch);

}  // namespace paceline::runtime
