// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include <c10/core/Device.h>

#include "paceline/engines/engine.h"
#include "paceline/engines/peer_wait.h"
#include "paceline/plan/alpha_beta.h"
#include "paceline/plan/profile.h"

namespace paceline::measure {

/// Times all-reduce, reduce-scatter and all-gather on `channel`, alone and at a
/// few sizes up to `largest_bytes`, and fits a line to each.  Collective.  The
/// time of a round is that of its slowest rank, so all ranks get equal models.
/// Takes about a second on a slow network.
plan::AlphaBeta measure_alpha_beta(engines::Channel& channel,
                                   at::Device device,
                                   std::int64_t largest_bytes,
                                   const std::string& origin,
                                   const engines::PeerWait& peers = {});

/// Broadcasts the profile of the channel's first rank.  Collective.
plan::LayerProfile share_profile(engines::Channel& channel,
                                 plan::LayerProfile profile,
                                 at::Device device,
                                 const engines::PeerWait& peers = {});

}  // namespace paceline::measure
