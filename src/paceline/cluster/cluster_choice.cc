// SPDX-License-Identifier: Apache-2.0
#include "paceline/cluster/cluster_choice.h"

#include <algorithm>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/base/file.h"

namespace paceline::cluster {
namespace {

std::vector<ClusterHost> named_hosts(const ClusterChoice& choice) {
  if (choice.hosts.empty()) {
    return parse_hostfile(read_text(choice.hostfile), choice.hostfile);
  }
  try {
    return parse_host_list(choice.hosts);
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("--hosts {}: {}", choice.hosts, error.what()));
  }
}

}  // namespace

Cluster read_cluster(const ClusterChoice& choice) {
  if (!choice.hosts.empty() && !choice.hostfile.empty()) {
    throw UsageError(
        fmt::format("--hosts {} and --hostfile {}: give one of them, each names the hosts",
                    choice.hosts, choice.hostfile));
  }
  if (choice.empty()) {
    throw UsageError("no cluster: give --cluster FILE, -H a:4,b:4 or --hostfile FILE");
  }
  Cluster cluster;
  if (!choice.file.empty()) {
    cluster = read_cluster(choice.file);
  }
  if (!choice.has_hosts()) {
    return cluster;
  }
  std::vector<ClusterHost> hosts = named_hosts(choice);
  for (ClusterHost& host : hosts) {
    const auto known = std::ranges::find(cluster.hosts, host.name, &ClusterHost::name);
    if (known != cluster.hosts.end()) {
      host.interface = known->interface;
      host.memory_bytes = known->memory_bytes;
    }
  }
  cluster.hosts = std::move(hosts);
  if (cluster.name.empty()) {
    cluster.name = choice.hosts.empty() ? choice.hostfile : choice.hosts;
  }
  try {
    check_hosts(cluster.hosts);
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("{}: {}",
                                 choice.hosts.empty() ? choice.hostfile : "--hosts " + choice.hosts,
                                 error.what()));
  }
  return cluster;
}

}  // namespace paceline::cluster
