// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "paceline/plan/alpha_beta.h"
#include "paceline/plan/comm_plan.h"

namespace paceline::cluster {

/// A link as a flag writes it: "1Gbit,50us".
struct LinkSpec {
  double bytes_per_s = 0;
  std::int64_t latency_ns = 0;  // one way
};

/// Throws UsageError, which begins with `where`, for anything but RATE or RATE,LATENCY with units
/// as in a cluster file.
LinkSpec parse_link(const std::string& where, const std::string& text);

/// `spec` on a machine that is `factor` times slower.
LinkSpec stretched(const LinkSpec& spec, double factor);

/// One-way latencies in a row of a collective as a ring performs it: 2(P-1) for all-reduce, P-1 for
/// reduce-scatter and all-gather; of a broadcast along a tree: ceil(log2 P).
int latencies_of(plan::Pattern pattern, int world);

/// Collectives of one communicator that an engine performs at the same time; 1 for an engine
/// without traits (plan/engine_traits.h).
std::int32_t concurrent_collectives_of(std::string_view engine);

/// What planners know of `world` ranks, each behind such a link of its own.
plan::AlphaBeta alpha_beta_of(const LinkSpec& link, plan::Rank world);

}  // namespace paceline::cluster
