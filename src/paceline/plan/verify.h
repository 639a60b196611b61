// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "paceline/plan/comm_plan.h"
#include "paceline/plan/plan_input.h"
#include "paceline/plan/plan_world.h"

namespace paceline::plan {

inline constexpr Step kVerifiedSteps = 4;

/// Checks the plans of all ranks before anything runs, without a tensor or a socket.  Throws
/// PlanError.
///
/// First it checks that the members of a communicator agree on the n-th collective (pattern,
/// counts, type, root), and pairs of ranks on the n-th message; that slices lie in their buffers;
/// that `after` names earlier ops; that a rank that trains updates every parameter; and that only
/// kernels access elements that are accessed with slack.  Then it simulates `steps` steps, and one
/// of each variant that they did not run, twice: op by op in program order, and overlapped as
/// executors run them, where a send also waits for its receive.  If ranks block, the error is the
/// chain of ops that wait for each other.
///
/// With `one_issue_order` (EngineTraits) there is a third simulation, in which each rank performs
/// its collectives and exchanges one after the other, in program order.
void verify(const Planner& planner, const PlanInput& input, Step steps = kVerifiedSteps,
            bool one_issue_order = false);

/// Runs only the simulation of verify() in which ops overlap as in executors.
void verify_overlapped(const PlanWorld& world);

/// Runs only the simulation of verify() in which each rank communicates one op at a time.
void verify_one_order(const PlanWorld& world);

}  // namespace paceline::plan
