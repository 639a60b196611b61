// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "paceline/cluster/cluster.h"

namespace paceline::cluster {

/// What a user says of a cluster; any of them may be empty.
struct ClusterChoice {
  std::string file{};      // --cluster: a cluster file, or a name in clusters/
  std::string hosts{};     // -H, --hosts: "a:4,b:4"
  std::string hostfile{};  // --hostfile: an MPI hostfile

  /// Whether hosts are named beside, or instead of, the file's.
  bool names_hosts() const { return !hosts.empty() || !hostfile.empty(); }
  bool empty() const { return file.empty() && !names_hosts(); }
};

/// The cluster file, with the hosts of -H or --hostfile in place of its own; or these hosts alone,
/// whose links and devices are unknown.  A host that the file knows too keeps its interface.
/// Throws UsageError, also for -H together with --hostfile, and where nothing is given.
Cluster read_cluster(const ClusterChoice& choice);

}  // namespace paceline::cluster
