// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "paceline/networks/gates.h"
#include "paceline/networks/network.h"
#include "paceline/plan/plan_input.h"

namespace paceline::runtime {

/// A network and its shape, found by tracing one step. For a replayed profile there is a shape with
/// parameters, but no network.
struct TracedNetwork {
  std::shared_ptr<networks::Network> network;  // null in a replay
  plan::ModelShape shape;
  std::vector<networks::Gated*> gated;  // by ModuleId; null for the root module
  std::vector<at::Tensor> parameters;   // by ParameterId
  /// FLOPs of one example's forward pass, as FlopCounter counts them; 0 in a replay.
  double flops = 0;
};

/// The order in which a step enters layers and in which gradients become final, by name.
struct TracedOrder {
  std::vector<std::string> layers, parameters;
};

/// Returns the order of rank 0, given this rank's own order. All ranks must call it.
using OrderAgreement = std::function<TracedOrder(TracedOrder)>;

/// Runs one forward and backward pass of `batch` to learn the order in which modules are entered
/// and gradients become ready.  Parameters, gradients and statistics keep their values.  Where
/// ranks may compute different parts of the network, `agree_on_order` makes the order the same on
/// all. Throws UsageError if rank 0's network has other parameters.
///
/// A parameter that lies in no gated layer that runs belongs to a root module, which is entered
/// first.  A parameter without a gradient comes last in the ready order.  Parameters are ordered as
/// their modules are entered; parameters of one module are in registration order.
TracedNetwork trace(const std::shared_ptr<networks::Network>& network, const std::string& name,
                    const networks::Batch& batch, const OrderAgreement& agree_on_order = {});

}  // namespace paceline::runtime
