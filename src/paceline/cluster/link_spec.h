// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "paceline/plan/alpha_beta.h"
#include "paceline/plan/comm_plan.h"

namespace paceline::cluster {

/// An emulated link as a flag states it, "1Gbit,50us": its rate and one-way latency.
struct LinkSpec {
  double bytes_per_s = 0;
  std::int64_t latency_ns = 0;  // one way
};

/// Throws UsageError, which begins with `where`, unless the text is RATE or RATE,LATENCY with units
/// as in a cluster file.
LinkSpec parse_link(const std::string& where, const std::string& text);

/// Returns the link slowed down by `factor`: the rate is divided and the latency multiplied by it.
LinkSpec stretched(const LinkSpec& spec, double factor);

/// Returns the number of consecutive one-way latencies of a collective: 2(P-1) for all-reduce, P-1
/// for reduce-scatter and all-gather, as in a ring; ceil(log2 P) for broadcast, as in a tree.
int latency_count(plan::Pattern pattern, int world);

/// Returns the number of collectives of one communicator that an engine performs at the same time;
/// 1 for an engine without traits (plan/engine_traits.h).
std::int32_t concurrent_collectives_of(std::string_view engine);

/// Returns an alpha-beta cost model from which planners compute the times of collectives among
/// `world` ranks that each have such a link.
plan::AlphaBeta alpha_beta_of(const LinkSpec& link, plan::Rank world);

}  // namespace paceline::cluster
