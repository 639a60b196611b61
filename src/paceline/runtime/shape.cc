// SPDX-License-Identifier: Apache-2.0
#include "paceline/runtime/shape.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <unordered_map>
#include <utility>

#include <torch/torch.h>

#include "paceline/runtime/hooks.h"
#include "paceline/runtime/memory.h"

namespace paceline::runtime {
namespace {

// Records the order in which gated layers are entered.
class OrderRecorder final : public networks::Gates {
 public:
  void enter(plan::ModuleId module) override {
    if (std::find(order_.begin(), order_.end(), module) == order_.end()) {
      order_.push_back(module);
    }
  }
  void leave(plan::ModuleId /*module*/) override {}
  bool gates_backward(plan::ModuleId /*module*/) const override {
    return false;
  }
  void enter_backward(plan::ModuleId /*module*/) override {}

  const std::vector<plan::ModuleId>& order() const { return order_; }

 private:
  std::vector<plan::ModuleId> order_;
};

// The gated layers in registration order, and the layer of each parameter.
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
    for (const at::Tensor& parameter : item.value()->parameters()) {
      found.layer_of.emplace(parameter.unsafeGetTensorImpl(),
                             found.gated.size());
    }
    found.names.push_back(item.key());
    found.gated.push_back(gated);
  }
  return found;
}

// Runs one step and returns the order in which gradients became final.
std::vector<plan::ParameterId> run_step(
    networks::Network& network,
    const std::vector<at::Tensor>& parameters,
    const networks::Batch& batch) {
  const SavedBuffers saved(network);
  std::vector<plan::ParameterId> ready;
  {
    const GradientHooks hooks(parameters,
                              [&](plan::ParameterId p) { ready.push_back(p); });
    at::cross_entropy_loss(network.forward(batch.input), batch.target)
        .backward();
  }
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

// When the forward pass first enters the parameter's layer, counted from 0;
// nothing where it enters none.
std::optional<std::size_t> entry_of(const at::Tensor& parameter,
                                    const GatedLayers& layers,
                                    const std::vector<plan::ModuleId>& order) {
  const auto layer = layers.layer_of.find(parameter.unsafeGetTensorImpl());
  if (layer == layers.layer_of.end()) {
    return std::nullopt;
  }
  const auto entry =
      std::ranges::find(order, static_cast<plan::ModuleId>(layer->second));
  return entry == order.end()
             ? std::nullopt
             : std::optional(static_cast<std::size_t>(entry - order.begin()));
}

}  // namespace

TracedNetwork trace(std::shared_ptr<networks::Network> network,
                    const std::string& name,
                    const networks::Batch& batch) {
  TracedNetwork traced;
  traced.network = network;
  traced.shape.name = name;
  std::vector<std::string> names;
  for (const auto& item : network->named_parameters()) {
    if (item.value().requires_grad()) {
      names.push_back(item.key());
      traced.parameters.push_back(item.value());
    }
  }
  const GatedLayers layers = find_gated_layers(*network);
  OrderRecorder recorder;
  {
    const BoundGates bound(layers.gated, recorder);
    traced.shape.ready_order = run_step(*network, traced.parameters, batch);
  }
  std::vector<std::optional<std::size_t>> entries;
  for (const at::Tensor& parameter : traced.parameters) {
    entries.push_back(entry_of(parameter, layers, recorder.order()));
  }
  const bool root =
      std::find(entries.begin(), entries.end(), std::nullopt) != entries.end();
  if (root) {
    traced.shape.modules.emplace_back("(root)");
    traced.gated.push_back(nullptr);
  }
  for (const plan::ModuleId layer : recorder.order()) {
    traced.shape.modules.push_back(layers.names[plan::index_of(layer)]);
    traced.gated.push_back(layers.gated[plan::index_of(layer)]);
  }
  for (std::size_t i = 0; i < traced.parameters.size(); ++i) {
    const at::Tensor& parameter = traced.parameters[i];
    const std::size_t module = entries[i] ? *entries[i] + (root ? 1 : 0) : 0;
    traced.shape.parameters.push_back(
        {.name = names[i],
         .sizes = parameter.sizes().vec(),
         .elements = parameter.numel(),
         .module = static_cast<plan::ModuleId>(module)});
    traced.shape.dtype = plan_dtype(parameter.scalar_type());
  }
  return traced;
}

}  // namespace paceline::runtime
