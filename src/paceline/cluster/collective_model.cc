// SPDX-License-Identifier: Apache-2.0
#include "paceline/cluster/collective_model.h"

#include <algorithm>
#include <cmath>

#include "paceline/base/error.h"
#include "paceline/plan/int128.h"

namespace paceline::cluster {
namespace {

/// Returns the rate, in bytes/s, that a flow of weight kWeightOne gets on a link whose flows have
/// the total weight `weight`.
std::int64_t rate_per_unit_weight(std::int64_t bytes_per_s, std::int64_t weight) {
  return weight == 0 ? std::numeric_limits<std::int64_t>::max()
                     : std::max<std::int64_t>(1, bytes_per_s * kWeightOne / weight);
}

/// Returns how often a transfer's bytes, which are both sent and received, cross a link of this
/// kind: twice if one link carries both directions, else once.
std::int64_t crossings(const LinkModel& link) { return 2 / link.links(); }

/// Returns the weight of a transfer on one network link.  If each device has its own card, the
/// cards of a host divide its bytes.
std::int64_t network_weight(const TransferCost& cost, const Group& group,
                            const LinkModel& network) {
  const std::int64_t cards =
      network.sharing == LinkSharing::kDevice ? group.ranks_on_fullest_host : 1;
  return (cost.network_weight + cards - 1) / cards * crossings(network);
}

/// Returns the network's rate, in bytes/s, for a collective among `hosts` hosts; the slowest of
/// their links limits it.
std::int64_t declined_bytes_per_s(const LinkModel& network, plan::Rank hosts) {
  return std::max<std::int64_t>(
      1, std::llround(static_cast<double>(network.bytes_per_s) *
                      std::pow(static_cast<double>(hosts) / 2, -network.decline)));
}

TransferCost cost_without_decline(const CollectiveCall& call, const Machine& machine) {
  switch (machine.algorithm) {
    case Algorithm::kRing:
      return ring_cost(call, machine);
    case Algorithm::kTree:
      return tree_cost(call, machine);
    case Algorithm::kMeasured:
      return measured_cost(call, machine);
    case Algorithm::kNccl:
    case Algorithm::kNcclCollNet:
      return nccl_choice(call, machine).cost;
  }
  return {};
}

/// Returns how many members of a collective share one device link.
std::int64_t members_per_device_link(const Group& group, const Machine& machine) {
  return machine.device.sharing == cluster::LinkSharing::kDevice ? 1 : group.ranks_on_fullest_host;
}

}  // namespace

std::int64_t device_ring_bytes_per_s(const Group& group, const Machine& machine) {
  return rate_per_unit_weight(
      machine.device.bytes_per_s,
      kWeightOne * members_per_device_link(group, machine) * crossings(machine.device));
}

std::int64_t network_ring_bytes_per_s(const Group& group, const Machine& machine) {
  const std::int64_t rate = group.hosts > 2 ? declined_bytes_per_s(machine.network, group.hosts)
                                            : machine.network.bytes_per_s;
  return rate_per_unit_weight(rate, network_weight({}, group, machine.network));
}

std::optional<TransferCost> collective_cost(const CollectiveCall& call, const Machine& machine) {
  if (call.group.ranks <= 1) {
    return std::nullopt;
  }
  TransferCost cost = cost_without_decline(call, machine);
  if (machine.link_rates_only) {
    return without_latency_and_limit(cost);
  }
  if (machine.network.decline > 0 && call.group.hosts > 2 && cost.network_weight > 0 &&
      measured_fit(call, machine) == nullptr) {
    const std::int64_t rate = declined_bytes_per_s(machine.network, call.group.hosts);
    cost.limit_bytes_per_s =
        std::min(cost.limit_bytes_per_s,
                 rate_per_unit_weight(rate, network_weight(cost, call.group, machine.network)));
  }
  return cost;
}

plan::Picoseconds alone(const std::optional<TransferCost>& cost, const Group& group,
                        const Machine& machine) {
  if (!cost) {
    return 0;
  }
  const std::int64_t rate =
      std::min({cost->limit_bytes_per_s,
                rate_per_unit_weight(machine.device.bytes_per_s,
                                     cost->device_weight * members_per_device_link(group, machine) *
                                         crossings(machine.device)),
                rate_per_unit_weight(machine.network.bytes_per_s,
                                     network_weight(*cost, group, machine.network))});
  return cost->latency + plan::wire_time(cost->bytes, rate);
}

}  // namespace paceline::cluster
