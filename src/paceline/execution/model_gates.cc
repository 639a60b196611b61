// SPDX-License-Identifier: Apache-2.0
#include "paceline/execution/model_gates.h"

namespace paceline::execution {

ModelGates::ModelGates(Dispatcher& dispatcher, const plan::PlanInput& input)
    : dispatcher_(dispatcher), input_(input) {}

plan::OpRef ModelGates::forward(plan::ModuleId module) const {
  const auto& by_micro = program_->forward[plan::index_of(module)];
  return {step_, by_micro[static_cast<std::size_t>(micro_)]};
}

plan::OpRef ModelGates::backward(plan::ParameterId parameter) const {
  const auto& by_micro = program_->backward[plan::index_of(parameter)];
  return {step_, by_micro[static_cast<std::size_t>(micro_)]};
}

void ModelGates::begin_step(plan::Step step, const StepProgram& program) {
  dispatcher_.begin_step(step, program.plan);
  program_ = &program;
  step_ = step;
  micro_ = 0;
}

void ModelGates::begin_forward(int micro) {
  dispatcher_.progress();
  micro_ = micro;
  is_gradient_final_.assign(input_.model.parameters.size(), false);
  use_counts_.assign(input_.model.modules.size(), 0);
}

void ModelGates::enter(plan::ModuleId module) { dispatcher_.wait_ready(forward(module)); }

void ModelGates::leave(plan::ModuleId module) {
  ++use_counts_[plan::index_of(module)];
  dispatcher_.complete(forward(module));
}

// Completes the Forward of modules that were not reached; they have read no parameters.
void ModelGates::begin_backward() {
  for (std::size_t m = 0; m < input_.model.modules.size(); ++m) {
    const auto module = static_cast<plan::ModuleId>(m);
    enter(module);
    dispatcher_.complete(forward(module));
  }
}

bool ModelGates::gates_backward(plan::ModuleId module) const {
  return use_counts_[plan::index_of(module)] == 1 &&
         program_->gates_backward[plan::index_of(module)];
}

void ModelGates::enter_backward(plan::ModuleId module) {
  const auto& parameters = input_.model.parameters;
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    if (parameters[p].module == module) {
      dispatcher_.wait_ready(backward(static_cast<plan::ParameterId>(p)));
    }
  }
}

bool ModelGates::enter_gradient(plan::ParameterId parameter) {
  if (is_gradient_final_[plan::index_of(parameter)]) {
    return false;
  }
  dispatcher_.wait_ready(backward(parameter));
  return true;
}

bool ModelGates::try_enter_gradient(plan::ParameterId parameter) {
  return !is_gradient_final_[plan::index_of(parameter)] &&
         dispatcher_.try_wait_ready(backward(parameter));
}

void ModelGates::leave_gradient(plan::ParameterId parameter) {
  is_gradient_final_[plan::index_of(parameter)] = true;
  dispatcher_.complete(backward(parameter));
}

std::vector<plan::ParameterId> ModelGates::pending_gradients() const {
  std::vector<plan::ParameterId> pending;
  for (std::size_t p = 0; p < is_gradient_final_.size(); ++p) {
    if (!is_gradient_final_[p]) {
      pending.push_back(static_cast<plan::ParameterId>(p));
    }
  }
  return pending;
}

void ModelGates::end_backward() {
  dispatcher_.progress();
  if (!is_last_micro()) {
    return;
  }
  const auto& ops = program_->plan->ops;
  for (std::size_t i = 0; i < ops.size(); ++i) {
    if (!ops[i].performer.empty()) {
      dispatcher_.complete({step_, static_cast<plan::OpIndex>(i)});
    }
  }
  dispatcher_.end_step();
}

}  // namespace paceline::execution
