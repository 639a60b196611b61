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

/// The digests (FNV-1a, 64 bits) of a rank's plan on one communicator, over all variants.
struct PlanDigest {
  /// The digest of the communicator's engine, of the collectives (pattern, place, counts, types,
  /// reduction, root and order) and of the order of the parameters in the flat buffers.  It is
  /// equal on all members whose plans match.
  std::int64_t collectives = 0;
  /// For each member, the digest of the sizes and types of the messages sent to that member, and of
  /// those received from it.  If plans match, the sender's digest of sends equals the receiver's
  /// digest of receives.
  std::vector<std::int64_t> sends, receives;
};

PlanDigest digest_of(const plan::Planner& planner, const plan::PlanInput& input,
                     const plan::Setup& setup, plan::CommunicatorId on);

/// Compares the digests of all members once, so that no step has to compare shapes.  Collective.
/// If digests differ, every member throws a UsageError: "rank 2's plan differs from rank 0's on
/// communicator grad", or "rank 2 sends rank 0 other messages on communicator push than rank 0
/// expects".
void require_agreement(engines::Channel& channel, const plan::Communicator& group,
                       const PlanDigest& digest, at::Device device,
                       const engines::PeerWait& peers = {});

}  // namespace paceline::rank
