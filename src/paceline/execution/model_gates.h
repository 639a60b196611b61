// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "paceline/execution/dispatcher.h"
#include "paceline/execution/step_program.h"
#include "paceline/plan/plan_input.h"

namespace paceline::execution {

/// Connects the network's forward and backward pass to the plan: waits before each Forward and
/// Backward of the step until the plan allows it, and reports when each is done.
///
/// One thread at a time calls it.  For each step the caller calls begin_step(), then for each
/// micro-batch begin_forward(), begin_backward(), end_backward().  Functions that wait throw the
/// dispatcher's first error.
class ModelGates {
 public:
  ModelGates(Dispatcher& dispatcher, const plan::PlanInput& input);

  void begin_step(plan::Step step, const StepProgram& program);

  void begin_forward(int micro);
  void enter(plan::ModuleId module);
  /// A module may run several times in a forward pass.
  void leave(plan::ModuleId module);

  /// Completes the Forward of the modules that the forward pass did not reach.
  void begin_backward();
  /// Whether enter_backward() may have to wait before the backward pass of the module. It applies
  /// to the module use that the last leave() ended. Only the first use in a forward pass has such a
  /// gate: backward reaches it last, and a gate at another use would wait for gradients that come
  /// between the two.
  bool gates_backward(plan::ModuleId module) const;
  void enter_backward(plan::ModuleId module);
  /// Waits until the parameter's gradient may be written.  Returns false if the gradient of this
  /// micro-batch is already final.
  bool enter_gradient(plan::ParameterId parameter);
  /// Like enter_gradient(), but returns false if it would have to wait.
  bool try_enter_gradient(plan::ParameterId parameter);
  /// Reports that the gradient is final in this micro-batch.
  void leave_gradient(plan::ParameterId parameter);
  /// Returns the parameters whose gradient is not final in this micro-batch.
  std::vector<plan::ParameterId> pending_gradients() const;
  /// Reports that every gradient is final. After the last micro-batch this also completes the ops
  /// that another owner than the executor issues.
  void end_backward();

  int micro() const { return micro_; }
  bool is_last_micro() const { return micro_ + 1 == input_.micro_batches; }

 private:
  plan::OpRef forward(plan::ModuleId module) const;
  plan::OpRef backward(plan::ParameterId parameter) const;

  Dispatcher& dispatcher_;
  const plan::PlanInput& input_;
  const StepProgram* program_ = nullptr;  // of the current step
  plan::Step step_ = -1;
  int micro_ = 0;
  std::vector<bool> is_gradient_final_;  // by parameter: gradient is final in this micro-batch
  std::vector<int> use_counts_;          // by module: number of uses in this forward pass
};

}  // namespace paceline::execution
