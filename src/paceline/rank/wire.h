// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>

#include "paceline/engines/ledger.h"
#include "paceline/plan/comm_plan.h"
#include "paceline/records/run_record.h"

namespace paceline::rank {

/// The measured steps of a case, and their plans on one rank.
struct Window {
  int first = 0;
  int steps = 1;
  plan::Rank rank = 0;
  const plan::Setup& setup;
  std::function<const plan::CommPlan&(plan::Step)> plan_of;
};

/// Returns whether anything crosses the network in the first `steps` steps, on this rank or
/// another.  The answer is the same on all ranks.
bool communicates(const plan::Planner& planner, const plan::PlanInput& input, int steps);

/// Returns the wire bytes per step of the steps in `window`.  The measured bytes come from
/// `booked`, which counts what the engine sent in all these steps.  The planned bytes are absent if
/// message lengths are not known to the plan.
records::WireBytes wire_bytes_of(const Window& window, const engines::Ledger& booked);

/// Returns a warning that the number of measured steps is no multiple of the period of the plans'
/// steps; nothing if it is.  The warning's code is records::kLacksExchange if the measured steps
/// lack something that other steps send.
std::optional<records::Warning> partial_period_warning(const plan::Planner& planner,
                                                       const plan::PlanInput& input, int warmup,
                                                       int steps);

}  // namespace paceline::rank
