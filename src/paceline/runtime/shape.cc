// SPDX-License-Identifier: Apache-2.0
#include "paceline/runtime/shape.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>
#include <torch/types.h>

#include "paceline/base/error.h"
#include "paceline/base/text.h"
#include "paceline/runtime/hooks.h"
#include "paceline/runtime/memory.h"
#include "paceline/runtime/products.h"

namespace paceline::runtime {
namespace {

// The gated layers in registration order, and each parameter's layer as an index into them.
struct GatedLayers {
  std::vector<std::string> names;
  std::vector<networks::Gated*> gated;
  std::unordered_map<c10::TensorImpl*, std::size_t> layer_of;
};

GatedLayers find_gated_layers(networks::Network& network) {
  GatedLayers found;
  for (const auto& item : network.named_modules("", /*include_self=*/false)) {
    auto* gated = dynamic_cast<networks::Gated*>(item.value().get());
    if (gated == nullptr) {
      continue;
    }
    for (const at::Tensor& parameter : item.value()->parameters(/*recurse=*/false)) {
      found.layer_of.emplace(parameter.unsafeGetTensorImpl(), found.gated.size());
    }
    found.names.push_back(item.key());
    found.gated.push_back(gated);
  }
  return found;
}

// A parameter and its positions in the traced step, by which parameters and gradients are ordered.
struct TracedParameter {
  std::string name;
  at::Tensor parameter;
  std::optional<std::size_t>
      layer_position{};   // position of its layer in `order`; null: the root module
  std::size_t ready = 0;  // position among the final gradients
};

at::Tensor loss_with_flop_count(networks::Network& network, const networks::Batch& batch,
                                double& flops) {
  const FlopCounter counter;
  at::Tensor loss = network.loss(batch);
  flops = counter.flops() / static_cast<double>(batch.target.size(0));
  return loss;
}

// Flat buffers can hold only dense gradients.
void require_dense_gradients(const std::vector<std::string>& names,
                             const std::vector<at::Tensor>& parameters) {
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const at::Tensor& gradient = parameters[i].grad();
    if (gradient.defined() && gradient.layout() != at::kStrided) {
      throw UsageError(
          fmt::format("The gradient of {} is sparse: only dense gradients can be trained "
                      "(torch.nn.Embedding with sparse=False).",
                      names[i]));
    }
  }
}

// Runs one step and returns the order in which gradients became final.
std::vector<plan::ParameterId> run_step(networks::Network& network,
                                        const std::vector<std::string>& names,
                                        const std::vector<at::Tensor>& parameters,
                                        const networks::Batch& batch, double& flops) {
  const SavedBuffers saved(network);
  std::vector<plan::ParameterId> ready;
  {
    const GradientHooks hooks(parameters, [&](plan::ParameterId p) { ready.push_back(p); });
    loss_with_flop_count(network, batch, flops).backward();
  }
  require_dense_gradients(names, parameters);
  for (const at::Tensor& parameter : parameters) {
    parameter.mutable_grad().reset();
  }
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const auto id = static_cast<plan::ParameterId>(i);
    if (std::find(ready.begin(), ready.end(), id) == ready.end()) {
      ready.push_back(id);
    }
  }
  return ready;
}

// Returns the position, from 0, of the parameter's layer in the order in which the forward pass
// first enters layers; nothing if the parameter lies in no layer that is entered.
std::optional<std::size_t> layer_entry_position(const at::Tensor& parameter,
                                                const GatedLayers& layers,
                                                const std::vector<plan::ModuleId>& order) {
  const auto layer = layers.layer_of.find(parameter.unsafeGetTensorImpl());
  if (layer == layers.layer_of.end()) {
    return std::nullopt;
  }
  const auto layer_position = std::ranges::find(order, static_cast<plan::ModuleId>(layer->second));
  return layer_position == order.end()
             ? std::nullopt
             : std::optional(static_cast<std::size_t>(layer_position - order.begin()));
}

template <class Id>
std::vector<std::string> names_of(const std::vector<Id>& ids,
                                  const std::vector<std::string>& names) {
  std::vector<std::string> found;
  for (const Id id : ids) {
    found.push_back(names[plan::index_of(id)]);
  }
  return found;
}

template <class Id>
std::vector<Id> ids_of(const std::vector<std::string>& wanted,
                       const std::vector<std::string>& names) {
  std::vector<Id> ids;
  for (const std::string& name : wanted) {
    const auto found = std::ranges::find(names, name);
    if (found == names.end()) {
      throw UsageError(
          fmt::format("Rank 0's network has '{}', and this rank's has not: every rank "
                      "must be given the same network.",
                      name));
    }
    ids.push_back(static_cast<Id>(found - names.begin()));
  }
  return ids;
}

// Replaces `order` and `ready` by the orders on rank 0, which are given by name.
void adopt_rank_0_order(const TracedOrder& all, const std::vector<std::string>& layers,
                        const std::vector<std::string>& parameters,
                        std::vector<plan::ModuleId>& order, std::vector<plan::ParameterId>& ready) {
  order = ids_of<plan::ModuleId>(all.layers, layers);
  ready = ids_of<plan::ParameterId>(all.parameters, parameters);
  if (ready.size() != parameters.size()) {
    throw UsageError(
        fmt::format("Rank 0's network has {} parameters that are trained, and this rank's has {}: "
                    "every rank must be given the same network.",
                    ready.size(), parameters.size()));
  }
}

}  // namespace

TracedNetwork trace(const std::shared_ptr<networks::Network>& network, const std::string& name,
                    const networks::Batch& batch, const OrderAgreement& agree_on_order) {
  TracedNetwork traced;
  traced.network = network;
  traced.shape.name = name;
  std::vector<TracedParameter> found;
  std::vector<at::Tensor> registered;
  std::vector<std::string> names;
  for (const auto& item : network->named_parameters()) {
    if (item.value().requires_grad()) {
      found.push_back({.name = item.key(), .parameter = item.value()});
      registered.push_back(item.value());
      names.push_back(item.key());
    }
  }
  const GatedLayers layers = find_gated_layers(*network);
  std::vector<plan::ModuleId> order;  // the order in which layers are first entered
  {
    EntryWatch watch([&](plan::ModuleId layer) { add_once(order, layer); });
    const BoundGates bound(layers.gated, watch);
    auto ready = run_step(*network, names, registered, batch, traced.flops);
    if (agree_on_order) {
      adopt_rank_0_order(agree_on_order({names_of(order, layers.names), names_of(ready, names)}),
                         layers.names, names, order, ready);
    }
    for (std::size_t place = 0; place < ready.size(); ++place) {
      found[plan::index_of(ready[place])].ready = place;
    }
  }
  for (TracedParameter& one : found) {
    one.layer_position = layer_entry_position(one.parameter, layers, order);
  }
  if (!network->numbers_parameters_by_registration()) {
    std::ranges::stable_sort(found, {}, &TracedParameter::layer_position);
  }
  const bool root = std::ranges::any_of(
      found, [](const TracedParameter& one) { return !one.layer_position.has_value(); });
  if (root) {
    traced.shape.modules.emplace_back("(root)");
    traced.gated.push_back(nullptr);
  }
  for (const plan::ModuleId layer : order) {
    traced.shape.modules.push_back(layers.names[plan::index_of(layer)]);
    traced.gated.push_back(layers.gated[plan::index_of(layer)]);
  }
  traced.shape.ready_order.resize(found.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    const TracedParameter& one = found[i];
    const std::size_t module = one.layer_position ? *one.layer_position + (root ? 1 : 0) : 0;
    traced.parameters.push_back(one.parameter);
    traced.shape.parameters.push_back({.name = one.name,
                                       .sizes = one.parameter.sizes().vec(),
                                       .elements = one.parameter.numel(),
                                       .module = static_cast<plan::ModuleId>(module)});
    traced.shape.ready_order[one.ready] = static_cast<plan::ParameterId>(i);
    traced.shape.dtype = plan_dtype(one.parameter.scalar_type());
  }
  return traced;
}

}  // namespace paceline::runtime
