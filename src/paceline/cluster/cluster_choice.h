// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "paceline/cluster/cluster.h"

namespace paceline::cluster {

/// How a user names a cluster; each field may be empty.
struct ClusterChoice {
  std::string file{};      // --cluster: a cluster file, or a name in clusters/
  std::string hosts{};     // -H, --hosts: "a:4,b:4"
  std::string hostfile{};  // --hostfile: an MPI hostfile

  /// Whether hosts are named in addition to the file, or instead of it.
  bool has_hosts() const { return !hosts.empty() || !hostfile.empty(); }
  bool empty() const { return file.empty() && !has_hosts(); }
};

/// Reads the cluster file; hosts of -H or --hostfile replace those of the file.  Without a file the
/// cluster has only these hosts, and its links and devices are unknown.  A host that is also in the
/// file keeps its interface and memory.  Throws UsageError, also for -H together with --hostfile,
/// and if nothing is given.
Cluster read_cluster(const ClusterChoice& choice);

}  // namespace paceline::cluster
