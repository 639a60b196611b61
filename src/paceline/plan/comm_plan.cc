// SPDX-License-Identifier: Apache-2.0
#include "paceline/plan/comm_plan.h"

#include <algorithm>

#include "paceline/plan/plan_input.h"

namespace paceline::plan {

Rank Planner::training_ranks(const PlanInput& input) const {
  return input.world;
}

std::vector<Variant> variants_of(const Planner& planner,
                                 const PlanInput& input) {
  constexpr Step kSteps = 4096;
  constexpr std::size_t kMost = 64;
  std::vector<Variant> variants;
  for (Step step = 0; step < kSteps && variants.size() < kMost; ++step) {
    const Variant variant = planner.variant(input, step);
    if (std::ranges::find(variants, variant) == variants.end()) {
      variants.push_back(variant);
    }
  }
  return variants;
}

bool is_model_work(const Op& op) {
  return std::holds_alternative<Forward>(op.work) ||
         std::holds_alternative<Backward>(op.work);
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
