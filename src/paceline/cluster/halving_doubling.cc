// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "paceline/cluster/collective_model.h"
#include "paceline/plan/wire_bytes.h"

namespace paceline::cluster {

/// Recursive halving of vectors and doubling of distances, then the reverse, of S bytes among P' =
/// 2^floor(log2 P) of P ranks on H hosts:
///
///   all-reduce   2 log2 P' hops, 2(P'-1)/P' S bytes per rank
///   others         log2 P' hops,  (P'-1)/P' S bytes per rank
///   network      the part that leaves a host: 2(H-1)/H S, (H-1)/H S, where H
///                is at most P'
///
/// Near partners come first, so that only S/L is left for the distant ones, with L members on
/// a host.  Each rank above P' sends its data to a neighbor before, and receives its part of the
/// result after, with one hop each:
///
///   all-reduce                  2 S bytes more
///   reduce-scatter, all-gather  S + S/P bytes more
///   broadcast                   S bytes more, only after
///
/// These hops come before and after, in one direction each, so that no direction of a link carries
/// more than S of these bytes, at its full rate; on a half-duplex link both directions share the
/// rate. (The loss of a full-duplex bus to compute matters there only if less than half of its rate
/// is left.)  If hosts have an odd number of ranks, such neighbors can be on different hosts, and
/// these bytes cross the network, too.  Thakur, Rabenseifner and Gropp, IJHPCA 2005,
/// doi:10.1177/1094342005051521, section 4.4.  A broadcast is a scatter and an all-gather.
namespace {

struct Folding {
  std::int64_t hops = 0, bytes = 0;
};

Folding folding(const CollectiveCall& call) {
  switch (call.pattern) {
    case plan::Pattern::kAllReduce:
      return {.hops = 2, .bytes = 2 * call.bytes};
    case plan::Pattern::kBroadcast:
      return {.hops = 1, .bytes = call.bytes};
    case plan::Pattern::kReduceScatter:
    case plan::Pattern::kAllGather:
      break;
  }
  return {.hops = 2, .bytes = call.bytes + call.bytes / call.group.ranks};
}

/// Whether neighboring ranks may be on different hosts.
bool parts_neighbors(const Group& group) {
  const bool equal = group.ranks == group.hosts * group.most_local;
  return group.hosts > 1 && (!equal || group.most_local % 2 != 0);
}

Stage folding_stage(const CollectiveCall& call, const Folding& extra, const Machine& machine) {
  const bool parted = parts_neighbors(call.group);
  const std::int64_t one_way = weight_of(call.bytes, extra.bytes);
  return {.latency = extra.hops * hop(call.group, machine),
          .bytes = extra.bytes,
          .device_weight = one_way,
          .network_weight = parted ? one_way : 0,
          .limit_bytes_per_s =
              parted ? std::min(machine.device.bytes_per_s, machine.network.bytes_per_s)
                     : machine.device.bytes_per_s};
}

}  // namespace

Price halving_doubling_price(const CollectiveCall& call, const Machine& machine) {
  const std::int64_t log2 = log2_up(call.group.ranks + std::int64_t{1}) - 1;
  const std::int64_t ranks = std::int64_t{1} << log2;  // P' above
  const std::int64_t hosts = std::min<std::int64_t>(call.group.hosts, ranks);
  const bool two_passes =
      call.pattern == plan::Pattern::kAllReduce || call.pattern == plan::Pattern::kBroadcast;
  const std::int64_t passes = two_passes ? 2 : 1;
  const Folding extra = ranks == call.group.ranks ? Folding{} : folding(call);
  const std::int64_t bytes = passes * (ranks - 1) * call.bytes / ranks;
  const std::int64_t outside = passes * (hosts - 1) * call.bytes / hosts;
  Price price;
  price.add({.latency = passes * log2 * hop(call.group, machine),
             .bytes = bytes,
             .network_weight = weight_of(outside, bytes)});
  if (extra.hops > 0) {
    price.add(folding_stage(call, extra, machine));
  }
  return price;
}

}  // namespace paceline::cluster
