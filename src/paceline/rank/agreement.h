// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>

#include "paceline/engines/engine.h"
#include "paceline/engines/peer_wait.h"
#include "paceline/plan/comm_plan.h"
#include "paceline/plan/plan_input.h"

namespace paceline::rank {

/// Returns one digest (FNV-1a, 64 bits) for each communicator.  It covers what all ranks do on the
/// communicator by this rank's planner and input, over all variants: the collectives (owner,
/// place, pattern, counts, types, reduction, root and order), the messages (peers, sizes and
/// types), and the order of the parameters in the flat buffers.  The digests of two ranks are equal
/// if both were given the same strategy, model and sizes.
std::vector<std::int64_t> plan_digests(const plan::Planner& planner, const plan::PlanInput& input);

/// Compares the digests of all members once, so that no step has to compare shapes.  Collective.
/// If digests differ, every member throws a UsageError: "rank 2's plan differs from rank 0's on
/// communicator grad".
void require_agreement(engines::Channel& channel, const plan::Communicator& group,
                       std::int64_t digest, at::Device device, const engines::PeerWait& peers = {});

}  // namespace paceline::rank
