// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "paceline/engines/ledger.h"
#include "paceline/plan/comm_plan.h"
#include "paceline/records/run_record.h"

namespace paceline::measure {

/// The steps whose bytes are counted, and their plans on one rank.
struct Window {
  int first = 0;
  int steps = 1;
  plan::Rank rank = 0;
  const plan::Setup& setup;
  std::function<const plan::CommPlan&(plan::Step)> plan_of;
};

/// Whether anything crosses the network in the first `steps` steps, on this
/// rank or another: the answer is the same on all ranks.
bool communicates(const plan::Planner& planner,
                  const plan::PlanInput& input,
                  int steps);

/// The wire bytes of these steps: measured, as the ledger's difference between
/// `before` and `after`, and planned.
records::WireBytes wire_of(const Window& window,
                           const engines::Ledger& before,
                           const engines::Ledger& after);

}  // namespace paceline::measure
