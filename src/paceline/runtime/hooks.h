// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>

#include "paceline/networks/gates.h"
#include "paceline/plan/comm_plan.h"

namespace paceline::runtime {

/// Calls `ready(p)` on the backward thread each time parameter p's gradient
/// has been accumulated, until the hooks are removed.
class GradientHooks {
 public:
  using Ready = std::function<void(plan::ParameterId)>;

  GradientHooks(std::vector<at::Tensor> parameters, const Ready& ready);
  ~GradientHooks();
  GradientHooks(const GradientHooks&) = delete;
  GradientHooks& operator=(const GradientHooks&) = delete;

 private:
  std::vector<at::Tensor> parameters_;
};

/// Binds gated layers to `gates` as long as this object lives.  `gated` is by ModuleId; null where
/// a module has no gate.
class BoundGates {
 public:
  BoundGates(std::vector<networks::Gated*> gated, networks::Gates& gates);
  ~BoundGates();
  BoundGates(const BoundGates&) = delete;
  BoundGates& operator=(const BoundGates&) = delete;

 private:
  std::vector<networks::Gated*> gated_;
};

/// Calls `entered` at every gate that a forward pass reaches. It never makes the pass wait.
class EntryWatch final : public networks::Gates {
 public:
  explicit EntryWatch(std::function<void(plan::ModuleId)> entered) : entered_(std::move(entered)) {}
  void enter(plan::ModuleId module) override { entered_(module); }
  void leave(plan::ModuleId /*module*/) override {}
  bool gates_backward(plan::ModuleId /*module*/) const override { return false; }
  void enter_backward(plan::ModuleId /*module*/) override {}

 private:
  std::function<void(plan::ModuleId)> entered_;
};

/// Restores a network's buffers (such as batch-norm statistics) in its destructor.
class SavedBuffers {
 public:
  explicit SavedBuffers(const torch::nn::Module& network);
  ~SavedBuffers();
  SavedBuffers(const SavedBuffers&) = delete;
  SavedBuffers& operator=(const SavedBuffers&) = delete;

 private:
  std::vector<at::Tensor> buffers_, values_;
};

}  // namespace paceline::runtime
