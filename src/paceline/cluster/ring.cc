// SPDX-License-Identifier: Apache-2.0
#include "paceline/cluster/collective_model.h"
#include "paceline/plan/wire_bytes.h"

namespace paceline::cluster {

/// One ring through all P members, ordered by host, so that one edge enters and one edge leaves
/// each host.  A collective of S bytes takes:
///
///   all-reduce                  2(P-1) hops,  2(P-1)/P S bytes per rank
///   reduce-scatter, all-gather   (P-1) hops,   (P-1)/P S bytes per rank
///   broadcast                    (P-1) hops,         S   bytes per rank
///
///   t = hops * latency + bytes / min(device rate, network rate of a host)
///
/// Patarasuk and Yuan, JPDC 2009, doi:10.1016/j.jpdc.2008.09.002, section 4.
TransferCost ring_cost(const CollectiveCall& call, const Machine& machine) {
  const std::int64_t ranks = call.group.ranks;
  const std::int64_t hops = call.pattern == plan::Pattern::kAllReduce ? 2 * (ranks - 1) : ranks - 1;
  return {.latency = hops * hop(call.group, machine),
          .bytes = plan::wire_bytes(call.pattern, call.bytes, ranks),
          .network_weight = call.group.hosts > 1 ? kWeightOne : 0};
}

}  // namespace paceline::cluster
