// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "paceline/plan/comm_plan.h"
#include "paceline/plan/plan_input.h"
#include "paceline/plan/plan_world.h"

namespace paceline::plan {

inline constexpr Step kVerifiedSteps = 4;

/// Checks the plans of all ranks before anything runs, without a tensor or a socket; throws
/// PlanError.
///
/// Members of a communicator agree on the n-th collective (pattern, counts, type, root), pairs of
/// ranks on the n-th message; slices lie in their buffers; `after` points back; a rank that trains
/// updates every parameter; what is accessed with slack is accessed by kernels alone.
/// Then `steps` steps, and one of each variant that they did not run, are walked twice: op by op in
/// program order, and as executors overlap them, where a send also waits for its receive.  If ranks
/// would stand still, the error is the chain of ops that wait for each other.
///
/// `one_issue_order` (EngineTraits): a third walk, in which each rank performs
/// its collectives and exchanges one after the other, in program order.
void verify(const Planner& planner, const PlanInput& input, Step steps = kVerifiedSteps,
            bool one_issue_order = false);

/// The second walk alone.
void verify_overlapped(const PlanWorld& world);

/// The third walk alone.
void verify_one_order(const PlanWorld& world);

}  // namespace paceline::plan
