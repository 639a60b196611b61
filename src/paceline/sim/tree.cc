// SPDX-License-Identifier: Apache-2.0
#include "paceline/plan/wire_bytes.h"
#include "paceline/sim/collective_model.h"

namespace paceline::sim {

/// Two complementary binary trees over the hosts, pipelined, and a chain inside
/// each host: the bytes of a ring with the latency of a tree.
///
///   all-reduce   2 (ceil(log2 H) network hops + (L-1) device hops)
///   others         (ceil(log2 H) network hops + (L-1) device hops)
///   bytes        as a ring
///
/// H hosts, L members on the fullest.  The time to fill the pipeline is left
/// out.  Sanders, Speck and Traff, Parallel Computing 2009,
/// doi:10.1016/j.parco.2009.09.001.
Price tree_price(const CollectiveCall& call, const Machine& machine) {
  const std::int64_t passes = call.pattern == plan::Pattern::kAllReduce ? 2 : 1;
  const Picoseconds one_pass =
      log2_up(call.group.hosts) * machine.network.latency +
      (call.group.most_local - 1) * machine.device.latency;
  Price price;
  price.add(
      {.latency = passes * one_pass,
       .bytes = plan::wire_bytes(call.pattern, call.bytes, call.group.ranks),
       .network_weight = call.group.hosts > 1 ? kWeightOne : 0});
  return price;
}

}  // namespace paceline::sim
