// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>

#include "paceline/engines/ledger.h"
#include "paceline/plan/comm_plan.h"
#include "paceline/records/run_record.h"

namespace paceline::rank {

/// The measured steps, and their plans on one rank.
struct Window {
  int first = 0;
  int steps = 1;
  plan::Rank rank = 0;
  const plan::Setup& setup;
  std::function<const plan::CommPlan&(plan::Step)> plan_of;
};

/// Whether anything crosses the network in the first `steps` steps, on this rank or another: the
/// answer is the same on all ranks.
bool communicates(const plan::Planner& planner, const plan::PlanInput& input, int steps);

/// The wire bytes of these steps: measured, of which `booked` is the sum, and planned, where the
/// plan knows all lengths.
records::WireBytes wire_of(const Window& window, const engines::Ledger& booked);

/// A warning that the measured steps are no whole number of periods of the plans' steps; nothing
/// where they are.  Its code is records::kLacksExchange where they lack something that other steps
/// send.
std::optional<records::Warning> partial_period(const plan::Planner& planner,
                                               const plan::PlanInput& input, int warmup, int steps);

}  // namespace paceline::rank
