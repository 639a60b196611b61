// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "paceline/plan/comm_plan.h"
#include "paceline/plan/plan_input.h"

namespace paceline::runtime {

/// A plan with what the executor looks up in it at every step.
struct StepProgram {
  std::shared_ptr<const plan::CommPlan> plan;
  std::vector<std::vector<plan::OpIndex>> forward;   // [module][micro]
  std::vector<std::vector<plan::OpIndex>> backward;  // [parameter][micro]
  /// By module: whether its backward waits for something other than model work
  /// of the same step, and so has a gate of its own.
  std::vector<bool> gates_backward;
};

StepProgram make_step_program(plan::CommPlan plan,
                              const plan::PlanInput& input,
                              const plan::Setup& setup);

}  // namespace paceline::runtime
