// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "paceline/plan/comm_plan.h"
#include "paceline/plan/plan_input.h"

namespace paceline::execution {

/// A plan, with tables by which an executor finds ops and gates of modules and parameters in every
/// step.
struct StepProgram {
  std::shared_ptr<const plan::CommPlan> plan;
  std::vector<std::vector<plan::OpIndex>> forward;   // [module][micro]
  std::vector<std::vector<plan::OpIndex>> backward;  // [parameter][micro]
  /// By module: whether its backward pass waits for something other than model work of the same
  /// step, and therefore has a gate.
  std::vector<bool> gates_backward;
};

StepProgram make_step_program(plan::CommPlan plan, const plan::PlanInput& input,
                              const plan::Setup& setup);

/// The programs of a planner's variants, each made once.  The arguments must outlive this object.
class StepPrograms {
 public:
  StepPrograms(const plan::Planner& planner, const plan::PlanInput& input, const plan::Setup& setup)
      : planner_(planner), input_(input), setup_(setup) {}

  /// Returns the program of `step`. The reference stays valid.
  const StepProgram& at(plan::Step step);

 private:
  const plan::Planner& planner_;
  const plan::PlanInput& input_;
  const plan::Setup& setup_;
  std::map<plan::Variant, StepProgram> by_variant_;
};

}  // namespace paceline::execution
