// SPDX-License-Identifier: Apache-2.0
#include "paceline/plan/comm_plan.h"

#include "paceline/base/text.h"
#include "paceline/plan/plan_input.h"

namespace paceline::plan {

Rank Planner::training_ranks(const PlanInput& input) const { return input.world; }

std::vector<Variant> variants_of(const Planner& planner, const PlanInput& input) {
  std::vector<Variant> variants;
  const Step steps = planner.period(input);
  for (Step step = 0; step < steps; ++step) {
    add_once(variants, planner.variant(input, step));
  }
  return variants;
}

bool is_model_work(const Op& op) {
  return std::holds_alternative<Forward>(op.work) || std::holds_alternative<Backward>(op.work);
}

std::optional<CommunicatorId> communicator_of(const Op& op) {
  if (const auto* collective = std::get_if<Collective>(&op.work)) {
    return collective->on;
  }
  if (const auto* exchange = std::get_if<Exchange>(&op.work)) {
    return exchange->on;
  }
  return std::nullopt;
}

}  // namespace paceline::plan
