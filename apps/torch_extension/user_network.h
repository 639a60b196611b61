// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include <torch/extension.h>

#include "paceline/networks/gates.h"
#include "paceline/networks/network.h"

namespace paceline::extension {

/// A module of the user's network as the executor needs it: its parameters, and gates that the
/// module's hooks in Python call.
class Unit final : public torch::nn::Module, public networks::Gated {
 public:
  // These functions do what those of networks::Gates do.  They do nothing if no executor is bound.
  void enter() const;
  /// Whether enter_backward() may have to wait.
  bool leave() const;
  void enter_backward() const;
};

/// The user's network: a tree of units that share the tensors of the Python modules.  The
/// computation is a Python closure that returns the loss.
class UserNetwork final : public networks::Network {
 public:
  /// `path` is that of the state dict.  A tensor that is not trained counts as a buffer, so that
  /// all ranks start from its value on rank 0.
  void add(const std::string& path, const at::Tensor& tensor, bool trained);

  /// Returns the unit of a module that has parameters; null for the network itself, whose own
  /// parameters are ready before the forward pass.
  std::shared_ptr<Unit> unit(const std::string& path) const;

  /// Sets the closure that loss() calls.
  void set_closure(py::function closure) { closure_ = std::move(closure); }

  at::Tensor loss(const networks::Batch& batch) override;

 private:
  torch::nn::Module& module_of(const std::string& path);

  std::map<std::string, std::shared_ptr<Unit>, std::less<>> units_;
  py::function closure_;
};

}  // namespace paceline::extension
