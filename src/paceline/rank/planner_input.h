// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <c10/core/Device.h>

#include "paceline/case/case.h"
#include "paceline/engines/engine.h"
#include "paceline/engines/peer_wait.h"
#include "paceline/networks/batch.h"
#include "paceline/networks/catalogue.h"
#include "paceline/networks/network.h"
#include "paceline/plan/alpha_beta.h"
#include "paceline/plan/plan_input.h"
#include "paceline/plan/profile.h"

namespace paceline::rank {

/// Returns the options with which a configuration's network is made.
networks::NetworkOptions network_options(const cases::Case& configuration);

/// Returns the configuration's network on `device`, in training mode and with parameters of the
/// configuration's type.
std::shared_ptr<networks::Network> built_network(const cases::Case& configuration,
                                                 at::Device device);

/// Returns a batch of the first sample twice, with which networks are traced.  Two samples are the
/// least that batch norm accepts on one pixel.
networks::Batch two_sample_batch(const networks::Batch& whole);

/// Returns the shape of a configuration's network: that of the replayed profile, or else one traced
/// with two samples on the CPU.  Throws UsageError for an unknown network or precision, and for an
/// image that is too small.
plan::ModelShape shape_of(const cases::Case& configuration);

/// Applies add_statistics_averaging() of rank/statistics.h.  If the configuration averages
/// statistics, makes and traces its network for this.
std::unique_ptr<plan::Planner> add_traced_statistics_averaging(
    const cases::Case& configuration, std::unique_ptr<plan::Planner> parameters);

/// Returns the planner's input for rank 0 of the case: the network's `shape` and the settings of
/// the case, without measured times.
plan::PlanInput plan_input_of(const cases::Case& configuration, plan::ModelShape shape);

/// Adds those times that the input lacks and the configuration gives: times of layers from its
/// replay, times of collectives from its emulated link.
void add_configured_times(const cases::Case& configuration, plan::PlanInput& input);

/// Times all-reduce, reduce-scatter, all-gather and messages on `channel`, one after the other, at
/// a few sizes up to `largest_bytes`, and fits a line to each.  Collective.  The time of a round is
/// that of its slowest rank, so all ranks get equal models.  Takes about a second on a slow
/// network.
plan::AlphaBeta measure_alpha_beta(engines::Channel& channel, at::Device device,
                                   std::int64_t largest_bytes, const std::string& origin,
                                   const engines::PeerWait& peers = {});

/// Returns the profile of the channel's first rank, on all ranks.  Collective.
plan::LayerProfile share_profile(engines::Channel& channel, plan::LayerProfile profile,
                                 at::Device device, const engines::PeerWait& peers = {});

}  // namespace paceline::rank
