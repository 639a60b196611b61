// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/cluster/collective_model.h"
#include "paceline/plan/wire_bytes.h"

namespace paceline::cluster {

/// Works inside each host, then in one ring per local rank across the hosts, then inside again.  A
/// host has L members, there are H hosts, and the collective has S bytes:
///
///   all-reduce      reduce-scatter of S inside, all-reduce of S/L on L lanes
///                   at once, all-gather of S inside
///   reduce-scatter  reduce-scatter of S inside, then of S/L on the lanes
///   all-gather      all-gather of S/L on the lanes, then of S inside
///   broadcast       broadcast of S across the hosts, then inside
///
/// A lane is such a ring across the hosts.  With one host, or one member on each, the price is that
/// of a ring.  If hosts have different numbers of members, there are no lanes through all hosts,
/// and UsageError is thrown.  NCCL and Horovod have such a hierarchical all-reduce: Jia et al.
/// 2018, arXiv:1807.11205, section 3.2.
Price hierarchical_price(const CollectiveCall& call, const Machine& machine) {
  const std::int64_t local = call.group.most_local;
  const std::int64_t hosts = call.group.hosts;
  if (local <= 1 || hosts <= 1) {
    return ring_price(call, machine);
  }
  if (call.group.ranks != local * hosts) {
    throw UsageError(
        fmt::format("the hierarchical algorithm wants as many ranks on every host; of {} ranks on "
                    "{} hosts the fullest has {}: choose ring or tree",
                    call.group.ranks, hosts, local));
  }
  const Stage inside{.latency = (local - 1) * machine.device.latency,
                     .bytes = (local - 1) * call.bytes / local,
                     .network_weight = 0};
  const bool all_reduce = call.pattern == plan::Pattern::kAllReduce;
  const bool broadcast = call.pattern == plan::Pattern::kBroadcast;
  const std::int64_t lane = broadcast ? call.bytes : call.bytes / local;
  const std::int64_t lanes = broadcast ? 1 : local;
  const std::int64_t hops = (all_reduce ? 2 : 1) * (hosts - 1);
  const Stage across{.latency = hops * machine.network.latency,
                     .bytes = plan::wire_bytes(call.pattern, lane, hosts),
                     .network_weight = lanes * kWeightOne};
  Price price;
  if (call.pattern != plan::Pattern::kAllGather && !broadcast) {
    price.add(inside);
  }
  price.add(across);
  if (broadcast) {
    price.add({.latency = (local - 1) * machine.device.latency,
               .bytes = call.bytes,
               .network_weight = 0});
  } else if (call.pattern != plan::Pattern::kReduceScatter) {
    price.add(inside);
  }
  return price;
}

}  // namespace paceline::cluster
