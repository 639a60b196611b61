// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include <torch/types.h>

#include "paceline/plan/comm_plan.h"

namespace paceline::networks {

/// Hooks by which an executor runs code around a module's forward and backward pass.
class Gates {
 public:
  virtual ~Gates() = default;
  /// Blocks until the module's parameters may be read; may throw.
  virtual void enter(plan::ModuleId module) = 0;
  virtual void leave(plan::ModuleId module) = 0;
  /// Whether the module's backward pass may have to wait at its gate.
  virtual bool gates_backward(plan::ModuleId module) const = 0;
  virtual void enter_backward(plan::ModuleId module) = 0;
  /// Returns memory, shaped as `parameter`, into which backward may write the parameter's gradient
  /// now; at most once per backward pass. If the tensor is undefined, backward allocates the
  /// gradient.
  virtual at::Tensor gradient_slot(const at::Tensor& /*parameter*/) { return {}; }
};

/// A layer whose forward and backward pass an executor can delay. While no gates are bound, its
/// only extra cost is a test for null.
class Gated {
 public:
  virtual ~Gated() = default;
  void bind(Gates* gates, plan::ModuleId id) {
    gates_ = gates;
    id_ = id;
  }

 protected:
  Gates* gates() const { return gates_; }  // null: no gates are bound
  plan::ModuleId id() const { return id_; }

  template <class Run>
  at::Tensor run_through_gates(Run&& run) {
    if (gates_ == nullptr) {
      return std::forward<Run>(run)();
    }
    gates_->enter(id_);
    at::Tensor out = std::forward<Run>(run)();
    gates_->leave(id_);
    if (gates_->gates_backward(id_) && out.requires_grad()) {
      out.register_hook([gates = gates_, id = id_](const at::Tensor& gradient) {
        gates->enter_backward(id);
        return gradient;
      });
    }
    return out;
  }

 private:
  Gates* gates_ = nullptr;
  plan::ModuleId id_{};
};

}  // namespace paceline::networks
