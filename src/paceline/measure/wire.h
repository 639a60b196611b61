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

/// What was booked before the counted steps.  A performer's first steps differ
/// from the others, so that collectives may be counted from a later step on;
/// messages, of which some may be under way then, count from step 0.
struct BookedBefore {
  const engines::Ledger& messages;
  const engines::Ledger& others;
};

/// Whether anything crosses the network in the first `steps` steps, on this
/// rank or another: the answer is the same on all ranks.
bool communicates(const plan::Planner& planner,
                  const plan::PlanInput& input,
                  int steps);

/// The wire bytes of these steps: measured, as the ledger's difference between
/// `before` and `after`, and planned, where the plan knows all lengths.
records::WireBytes wire_of(const Window& window,
                           const BookedBefore& before,
                           const engines::Ledger& after);

}  // namespace paceline::measure
