// SPDX-License-Identifier: Apache-2.0
#include "paceline/cluster/collective_model.h"
#include "paceline/plan/wire_bytes.h"

namespace paceline::cluster {

/// Models NCCL if nothing was measured: the bytes of its rings, which NCCL uses for large data,
/// with the latency of its trees, which NCCL uses for small data.  No single algorithm has both;
/// each term matters where the other is small.
///
///   all-reduce   2 (ceil(log2 H) network hops + (L-1) device hops)
///   others         (ceil(log2 H) network hops + (L-1) device hops)
///   bytes        as a ring
///
/// There are H hosts, with L members on the fullest, and S bytes: a tree connects the hosts, a
/// chain the members of each host.  Two complementary trees would move 2 S over an inner host's
/// link instead of the ring's 2(P-1)/P S, and take time to fill: Sanders, Speck and Traff, Parallel
/// Computing 2009, doi:10.1016/j.parco.2009.09.001.
TransferCost tree_cost(const CollectiveCall& call, const Machine& machine) {
  const std::int64_t passes = call.pattern == plan::Pattern::kAllReduce ? 2 : 1;
  const plan::Picoseconds one_pass =
      log2_up(call.group.hosts) * machine.network.latency +
      (call.group.ranks_on_fullest_host - 1) * machine.device.latency;
  return {.latency = passes * one_pass,
          .bytes = plan::wire_bytes(call.pattern, call.bytes, call.group.ranks),
          .network_weight = call.group.hosts > 1 ? kWeightOne : 0};
}

}  // namespace paceline::cluster
