// SPDX-License-Identifier: Apache-2.0
#include "paceline/sim/collective_model.h"

#include <algorithm>

#include "paceline/base/error.h"
#include "paceline/sim/whole.h"

namespace paceline::sim {
namespace {

/// The rate that one unit of weight gets from a link that carries `weight`.
std::int64_t share(std::int64_t bytes_per_s, std::int64_t weight) {
  return weight == 0
             ? std::numeric_limits<std::int64_t>::max()
             : std::max<std::int64_t>(1, bytes_per_s * kWeightOne / weight);
}

}  // namespace

Price price(const CollectiveCall& call, const Machine& machine) {
  if (call.group.ranks <= 1) {
    return {};
  }
  switch (machine.algorithm) {
    case Algorithm::kRing:
      return ring_price(call, machine);
    case Algorithm::kTree:
      return tree_price(call, machine);
    case Algorithm::kHalvingDoubling:
      return halving_doubling_price(call, machine);
    case Algorithm::kHierarchical:
      return hierarchical_price(call, machine);
    case Algorithm::kMeasured:
      return measured_price(call, machine);
  }
  return {};
}

Picoseconds alone(const Price& price,
                  const Group& group,
                  const Machine& machine) {
  const auto ways = [](const LinkModel& link) -> std::int64_t {
    return link.full_duplex ? 1 : 2;
  };
  const std::int64_t on_bus =
      machine.device.sharing == plan::LinkSharing::kDevice ? 1
                                                           : group.most_local;
  // On one medium each host's bytes cross once; cards of devices split them.
  const auto network_weight = [&](const Stage& stage) {
    switch (machine.network.sharing) {
      case plan::LinkSharing::kAll:
        return stage.network_weight * group.hosts;
      case plan::LinkSharing::kDevice:
        return (stage.network_weight + group.most_local - 1) /
               group.most_local * ways(machine.network);
      case plan::LinkSharing::kHost:
        break;
    }
    return stage.network_weight * ways(machine.network);
  };
  Picoseconds total = 0;
  for (int i = 0; i < price.count; ++i) {
    const Stage& stage = price.stages[static_cast<std::size_t>(i)];
    const std::int64_t rate =
        std::min({stage.limit_bytes_per_s,
                  share(machine.device.bytes_per_s,
                        stage.device_weight * on_bus * ways(machine.device)),
                  share(machine.network.bytes_per_s, network_weight(stage))});
    total += stage.latency + transfer_time(stage.bytes, rate);
  }
  return total;
}

}  // namespace paceline::sim
