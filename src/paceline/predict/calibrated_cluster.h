// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "paceline/cluster/cluster.h"
#include "paceline/predict/link_calibration.h"
#include "paceline/records/comm_record.h"

// Functions that make a cluster file from measured times of collectives.

namespace paceline::predict {

/// Facts about a cluster that do not come from its measured collectives.
struct ClusterFacts {
  /// The user's cluster file: its links and devices, and its hosts if `hosts` is empty.
  std::optional<cluster::Cluster> base{};
  std::vector<cluster::ClusterHost> hosts{};  // empty: those of the measured records
  int devices_per_host = 0;                   // as nvidia-smi lists them; 0: not known
  int nvlinks = 0;              // fewest NVLinks between two devices; 0: there is none
  int most_nvlinks = 0;         // most NVLinks between two devices
  int nvlinks_of_a_device = 0;  // most NVLinks of one device to all others together
  int network_cards = 0;        // number of a host's network cards that its devices use
  bool has_topology = false;
};

struct CalibratedCluster {
  cluster::Cluster cluster;
  std::vector<CalibratedLink> links;
  std::vector<std::string> notes;  // what the cluster leaves out, a sentence each
};

/// Returns the cluster of the facts, with the constants of the engine's model fitted to `records`
/// (predict/link_calibration.h), and with alpha-beta fits by size of each operation.  Records
/// inside one host belong to the device link, the others to the network.  The fits give the time of
/// a collective on the measured numbers of ranks; other numbers of ranks follow the engine's model
/// (cluster/measured.cc).  Throws UsageError if nothing can be fitted.
CalibratedCluster calibrated_cluster(std::span<const records::CommRecord> records,
                                     const ClusterFacts& facts, const std::string& source);

}  // namespace paceline::predict
