// SPDX-License-Identifier: Apache-2.0
#include "paceline/execution/step_program.h"

#include <cstddef>
#include <utility>
#include <variant>

#include "paceline/plan/dependency_analyzer.h"

namespace paceline::execution {
namespace {

std::vector<bool> gates_of_backward(const StepProgram& program, const plan::ModelShape& shape,
                                    const plan::Setup& setup) {
  std::vector<bool> gates(shape.modules.size(), false);
  const auto& ops = program.plan->ops;
  plan::DependencyAnalyzer analyzer(shape, setup);
  const plan::Dependencies dependencies = analyzer.open(0, *program.plan);
  for (std::size_t p = 0; p < shape.parameters.size(); ++p) {
    if (program.backward[p][0] < 0) {
      continue;  // this rank has no model work
    }
    const auto op = static_cast<std::size_t>(program.backward[p][0]);
    for (const plan::Edge& edge : dependencies.waits_for[op]) {
      const auto& before = ops[static_cast<std::size_t>(edge.op)].work;
      if (!std::holds_alternative<plan::Forward>(before) &&
          !std::holds_alternative<plan::Backward>(before)) {
        gates[plan::index_of(shape.parameters[p].module)] = true;
      }
    }
  }
  return gates;
}

}  // namespace

StepProgram make_step_program(plan::CommPlan plan, const plan::PlanInput& input,
                              const plan::Setup& setup) {
  StepProgram program;
  program.plan = std::make_shared<const plan::CommPlan>(std::move(plan));
  const plan::ModelShape& shape = input.model;
  const auto micros = static_cast<std::size_t>(input.micro_batches);
  const std::vector<plan::OpIndex> none(micros, -1);
  program.forward.assign(shape.modules.size(), none);
  program.backward.assign(shape.parameters.size(), none);
  const auto& ops = program.plan->ops;
  for (std::size_t i = 0; i < ops.size(); ++i) {
    const auto index = static_cast<plan::OpIndex>(i);
    if (const auto* f = std::get_if<plan::Forward>(&ops[i].work)) {
      program.forward[plan::index_of(f->module)][static_cast<std::size_t>(f->micro)] = index;
    } else if (const auto* b = std::get_if<plan::Backward>(&ops[i].work)) {
      program.backward[plan::index_of(b->parameter)][static_cast<std::size_t>(b->micro)] = index;
    }
  }
  program.gates_backward = gates_of_backward(program, shape, setup);
  return program;
}

const StepProgram& StepPrograms::at(plan::Step step) {
  const plan::Variant variant = planner_.variant(input_, step);
  auto found = by_variant_.find(variant);
  if (found == by_variant_.end()) {
    found = by_variant_
                .emplace(variant,
                         make_step_program(planner_.plan(input_, setup_, variant), input_, setup_))
                .first;
  }
  return found->second;
}

}  // namespace paceline::execution
