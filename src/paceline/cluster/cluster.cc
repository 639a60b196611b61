// SPDX-License-Identifier: Apache-2.0
#include "paceline/cluster/cluster.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <set>

#include "paceline/base/error.h"
#include "paceline/plan/ranks_per_host.h"

namespace paceline::cluster {

int Cluster::slots() const {
  const std::vector<int> each = slots_by_host();
  return std::accumulate(each.begin(), each.end(), 0);
}

std::vector<int> Cluster::slots_by_host() const {
  std::vector<int> slots;
  for (const ClusterHost& host : hosts) {
    slots.push_back(host.slots);
  }
  return slots;
}

const ClusterLink* Cluster::link(LinkScope scope) const {
  const auto found = std::ranges::find(links, scope, &ClusterLink::scope);
  return found == links.end() ? nullptr : &*found;
}

std::vector<plan::Rank> ranks_per_host(const Cluster& cluster, plan::Rank world) {
  if (world < 1) {
    throw UsageError(fmt::format("a world of {} ranks; it needs at least 1", world));
  }
  std::vector<plan::Rank> ranks = plan::fill_hosts(world, cluster.slots_by_host());
  if (std::accumulate(ranks.begin(), ranks.end(), plan::Rank{0}) < world) {
    throw UsageError(
        fmt::format("a world of {} ranks does not fit on cluster '{}': {} hosts have {} slots",
                    world, cluster.name, cluster.hosts.size(), cluster.slots()));
  }
  return ranks;
}

void check_host(const ClusterHost& host) {
  if (host.name.empty() || host.name.starts_with('-')) {
    throw UsageError(
        fmt::format("host '{}': a name is not empty and does not begin with '-', which would be an "
                    "option of ssh",
                    host.name));
  }
}

void check_hosts(const std::vector<ClusterHost>& hosts) {
  if (hosts.empty()) {
    throw UsageError("a cluster needs at least one of [[hosts]]");
  }
  std::set<std::string_view> names;
  std::int64_t slots = 0;
  for (const ClusterHost& host : hosts) {
    check_host(host);
    if (!names.insert(host.name).second) {
      throw UsageError(fmt::format("two hosts have the name '{}'; give each its own", host.name));
    }
    slots += host.slots;
  }
  if (slots > kMostSlots) {
    throw UsageError(
        fmt::format("the cluster has {} slots; at most {} are supported", slots, kMostSlots));
  }
}

}  // namespace paceline::cluster
