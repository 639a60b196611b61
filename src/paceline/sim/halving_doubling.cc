// SPDX-License-Identifier: Apache-2.0
#include "paceline/plan/wire_bytes.h"
#include "paceline/sim/collective_model.h"

namespace paceline::sim {

/// Recursive vector halving with distance doubling, then the way back.
///
///   all-reduce   2 ceil(log2 P) hops, 2(P-1)/P S bytes per rank
///   others         ceil(log2 P) hops,  (P-1)/P S bytes per rank
///   network      the part that leaves a host: 2(H-1)/H S, (H-1)/H S
///
/// Near partners come first, so that what is left for the distant ones is S/L.
/// Where P is no power of two, 2 hops and 2 S bytes come before and after.
/// Thakur, Rabenseifner and Gropp, IJHPCA 2005, doi:10.1177/1094342005051521,
/// section 4.4.  A broadcast is a scatter and an all-gather.
Price halving_doubling_price(const CollectiveCall& call,
                             const Machine& machine) {
  const std::int64_t ranks = call.group.ranks;
  const std::int64_t hosts = call.group.hosts;
  const bool two_passes = call.pattern == plan::Pattern::kAllReduce ||
                          call.pattern == plan::Pattern::kBroadcast;
  const std::int64_t passes = two_passes ? 2 : 1;
  const bool odd = (ranks & (ranks - 1)) != 0;
  const std::int64_t extra = odd ? 2 * call.bytes : 0;
  const std::int64_t rounds = passes * log2_up(ranks) + (odd ? 2 : 0);
  const std::int64_t bytes = passes * (ranks - 1) * call.bytes / ranks + extra;
  const std::int64_t outside =
      hosts > 1 ? passes * (hosts - 1) * call.bytes / hosts : 0;
  Price price;
  price.add({.latency = rounds * hop(call.group, machine),
             .bytes = bytes,
             .network_weight = weight_of(outside, bytes)});
  return price;
}

}  // namespace paceline::sim
