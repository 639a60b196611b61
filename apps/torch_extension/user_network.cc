// SPDX-License-Identifier: Apache-2.0
#include "user_network.h"

#include <utility>

#include <fmt/format.h>

#include "paceline/base/error.h"

namespace paceline::extension {
namespace {

// Returns "layer1.0.conv" and "weight" for "layer1.0.conv.weight".
std::pair<std::string, std::string> split_last(const std::string& path) {
  const std::size_t dot = path.rfind('.');
  return dot == std::string::npos ? std::pair(std::string(), path)
                                  : std::pair(path.substr(0, dot), path.substr(dot + 1));
}

}  // namespace

void Unit::enter() const {
  if (gates() != nullptr) {
    gates()->enter(id());
  }
}

bool Unit::leave() const {
  if (gates() == nullptr) {
    return false;
  }
  gates()->leave(id());
  return gates()->gates_backward(id());
}

void Unit::enter_backward() const {
  if (gates() != nullptr) {
    gates()->enter_backward(id());
  }
}

torch::nn::Module& UserNetwork::module_of(const std::string& path) {
  if (path.empty()) {
    return *this;
  }
  if (const auto found = units_.find(path); found != units_.end()) {
    return *found->second;
  }
  const auto [parent, name] = split_last(path);
  auto unit = module_of(parent).register_module(name, std::make_shared<Unit>());
  return *units_.emplace(path, std::move(unit)).first->second;
}

void UserNetwork::add(const std::string& path, const at::Tensor& tensor, bool trained) {
  const auto [owner, name] = split_last(path);
  torch::nn::Module& module = module_of(owner);
  if (trained) {
    module.register_parameter(name, tensor);
  } else {
    module.register_buffer(name, tensor.detach());
  }
}

std::shared_ptr<Unit> UserNetwork::unit(const std::string& path) const {
  const auto found = units_.find(path);
  return found == units_.end() ? nullptr : found->second;
}

at::Tensor UserNetwork::loss(const networks::Batch& /*batch*/) {
  const py::gil_scoped_acquire python;
  const py::object value = closure_();
  if (!THPVariable_Check(value.ptr())) {
    throw UsageError(
        fmt::format("The closure of a step must return the loss, a tensor; it returned {}.",
                    std::string(py::str(py::type::handle_of(value)))));
  }
  auto loss = value.cast<at::Tensor>();
  if (loss.numel() != 1) {
    throw UsageError(fmt::format("The loss must have one element, and has {}.", loss.numel()));
  }
  return loss;
}

}  // namespace paceline::extension
