// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <ATen/core/Tensor.h>

#include "paceline/engines/engine.h"
#include "paceline/plan/comm_plan.h"
#include "paceline/plan/plan_input.h"

namespace paceline::measure {

/// A digest (FNV-1a, 64 bits) of a rank's plan on one communicator: pattern,
/// counts, types, reduction, root and order of its collectives, in every
/// variant of the first steps.  Equal on all members whose plans match.
std::int64_t communicator_digest(const plan::Planner& planner,
                                 const plan::PlanInput& input,
                                 const plan::Setup& setup,
                                 plan::CommunicatorId on);

/// Compares the digests of all members once, so that no step has to compare
/// shapes.  Collective.  Where one differs, every member throws the UsageError
/// "rank 2's plan differs from rank 0's on communicator grad".
void require_agreement(engines::Channel& channel,
                       const plan::Communicator& group,
                       std::int64_t digest,
                       at::Device device);

}  // namespace paceline::measure
