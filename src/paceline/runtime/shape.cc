// SPDX-License-Identifier: Apache-2.0
#include "paceline/runtime/shape.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include <torch/torch.h>

#include "paceline/runtime/hooks.h"
#include "paceline/runtime/memory.h"

namespace paceline::runtime {
namespace {

// Writes down the order in which gated units are entered.
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

struct Unit {
  std::string name;
  networks::Gated* gated = nullptr;
};

// The gated units in registration order, and the unit of each parameter; unit
// 0 is the root where some parameter lies outside every gated layer.
struct Registered {
  std::vector<Unit> units;
  std::unordered_map<c10::TensorImpl*, std::size_t> unit_of;
};

Registered find_units(networks::Network& network) {
  Registered found;
  for (const auto& item : network.named_modules("", /*include_self=*/false)) {
    auto* gated = dynamic_cast<networks::Gated*>(item.value().get());
    if (gated == nullptr) {
      continue;
    }
    found.units.push_back({item.key(), gated});
    for (const at::Tensor& parameter : item.value()->parameters()) {
      found.unit_of.emplace(parameter.unsafeGetTensorImpl(),
                            found.units.size() - 1);
    }
  }
  return found;
}

// Runs one step and returns the order in which gradients became final.
std::vector<plan::ParameterId> run_step(
    networks::Network& network,
    const std::vector<at::Tensor>& parameters,
    const networks::Batch& batch) {
  std::vector<at::Tensor> kept;
  for (const at::Tensor& buffer : network.buffers()) {
    kept.push_back(buffer.clone());
  }
  std::vector<plan::ParameterId> ready;
  {
    const GradientHooks hooks(parameters,
                              [&](plan::ParameterId p) { ready.push_back(p); });
    at::cross_entropy_loss(network.forward(batch.input), batch.target)
        .backward();
  }
  const at::NoGradGuard no_grad;
  std::size_t next = 0;
  for (at::Tensor& buffer : network.buffers()) {
    buffer.copy_(kept[next++]);
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

// Whether the parameter belongs to a gated unit that the forward pass enters.
bool runs(const Registered& found,
          const OrderRecorder& recorder,
          const at::Tensor& parameter) {
  const auto unit = found.unit_of.find(parameter.unsafeGetTensorImpl());
  return unit != found.unit_of.end() &&
         std::find(recorder.order().begin(),
                   recorder.order().end(),
                   static_cast<plan::ModuleId>(unit->second)) !=
             recorder.order().end();
}

}  // namespace

TracedNetwork trace(std::shared_ptr<networks::Network> network,
                    const std::string& name,
                    const networks::Batch& batch) {
  TracedNetwork traced;
  traced.network = network;
  traced.shape.name = name;
  const auto named = network->named_parameters();
  for (const auto& item : named) {
    if (item.value().requires_grad()) {
      traced.parameters.push_back(item.value());
    }
  }
  const Registered found = find_units(*network);
  OrderRecorder recorder;
  for (std::size_t u = 0; u < found.units.size(); ++u) {
    found.units[u].gated->bind(&recorder, static_cast<plan::ModuleId>(u));
  }
  traced.shape.ready_order = run_step(*network, traced.parameters, batch);

  std::unordered_map<std::size_t, plan::ModuleId> module_of;
  const bool root = std::any_of(
      traced.parameters.begin(),
      traced.parameters.end(),
      [&](const at::Tensor& p) { return !runs(found, recorder, p); });
  if (root) {
    traced.shape.modules.emplace_back("(root)");
    traced.gated.push_back(nullptr);
  }
  for (const plan::ModuleId unit : recorder.order()) {
    const Unit& entered = found.units[plan::index_of(unit)];
    module_of.emplace(plan::index_of(unit),
                      static_cast<plan::ModuleId>(traced.shape.modules.size()));
    traced.shape.modules.push_back(entered.name);
    traced.gated.push_back(entered.gated);
  }
  for (const Unit& unit : found.units) {
    unit.gated->bind(nullptr, {});
  }
  for (const auto& item : named) {
    const at::Tensor& parameter = item.value();
    if (!parameter.requires_grad()) {
      continue;
    }
    const plan::ModuleId module =
        runs(found, recorder, parameter)
            ? module_of.at(found.unit_of.at(parameter.unsafeGetTensorImpl()))
            : plan::ModuleId{0};
    traced.shape.parameters.push_back({.name = item.key(),
                                       .sizes = parameter.sizes().vec(),
                                       .elements = parameter.numel(),
                                       .module = module});
    traced.shape.dtype = plan_dtype(parameter.scalar_type());
  }
  return traced;
}

}  // namespace paceline::runtime
