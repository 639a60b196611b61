// SPDX-License-Identifier: Apache-2.0
#include "paceline/plan/comm_plan.h"

namespace paceline::plan {

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
