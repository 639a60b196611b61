// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "paceline/networks/gates.h"
#include "paceline/networks/network.h"
#include "paceline/plan/plan_input.h"

namespace paceline::runtime {

/// A network and what one traced step shows of it.  A replayed profile has parameters and a shape,
/// and no network.
struct TracedNetwork {
  std::shared_ptr<networks::Network> network;  // null: replayed
  plan::ModelShape shape;
  std::vector<networks::Gated*> gated;  // by ModuleId; null: the root's gate
  std::vector<at::Tensor> parameters;   // by ParameterId
  /// ProductCounter's, of one sample's forward pass; 0: replayed.
  double flops = 0;
};

/// Runs one forward and backward pass of `batch` to learn the order of modules and of gradients.
/// Parameters, gradients and statistics keep their values.
///
/// A parameter outside every gated layer that runs belongs to a root module, which is entered
/// first.  A parameter that gets no gradient comes last in the ready order.  Parameters are in the
/// order in which their modules are entered, those of one module as registered.
TracedNetwork trace(const std::shared_ptr<networks::Network>& network, const std::string& name,
                    const networks::Batch& batch);

}  // namespace paceline::runtime
