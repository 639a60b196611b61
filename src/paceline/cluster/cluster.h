// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "paceline/plan/alpha_beta.h"
#include "paceline/plan/comm_plan.h"
#include "paceline/plan/engine_traits.h"

// A cluster as one file describes it: the hosts on which ranks are started, the links that they
// share, what the devices can do.  docs/cluster-file.md has the keys.  Whoever starts ranks,
// measures links or predicts reads this one type.

namespace paceline::cluster {

inline constexpr int kMostSlots = 1 << 24;  // of a cluster

struct ClusterHost {
  std::string name;
  int slots = 1;             // ranks, one per device
  std::string interface {};  // network interface; empty: the engine chooses
  std::optional<std::int64_t> memory_bytes{};
};

/// What a link joins.
enum class LinkScope : std::uint8_t {
  kHosts,   // the network
  kDevices  // the devices of one host: PCIe, NVLink, shared memory
};

/// Who shares one link of the kind, each way.
enum class LinkSharing : std::uint8_t {
  kHost,    // all slots of a host: its network card, or its bus
  kDevice,  // nobody: every slot has its own
  kAll      // everything in the cluster: one medium
};

// What a fit may name.  Engines: those that run, and published programs.
inline constexpr auto kFitEngines = [] {
  constexpr std::array<std::string_view, 3> kPublished{"bytescheduler", "byteps", "bluefog"};
  std::array<std::string_view, plan::kEngines.size() + kPublished.size()> names{};
  std::ranges::copy(
      kPublished,
      std::ranges::transform(plan::kEngines, names.begin(), &plan::EngineTraits::name).out);
  return names;
}();
inline constexpr std::array<std::string_view, 2> kFitDevices{"cpu", "cuda"};

/// The measured time of one operation among `ranks` ranks on a link, by size.
struct LinkFit {
  std::string operation;  // of plan::kOperations
  int ranks = 2;
  plan::AlphaBetaLine line;
  std::optional<double> error_percent;  // of the fit, mean absolute
  std::string engine{};                 // of kFitEngines; empty: not said
  std::string device{};                 // cpu, cuda; empty: not said
  std::vector<int> ranks_per_host{};    // in rank order; empty: not said
};

/// What `paceline calibrate` found of an engine's model of collectives on a link: constants in
/// place of those of data/nccl_tuning.toml, how far the model is from the measured times, and which
/// times were measured.
struct LinkCalibration {
  std::string engine;  // of kFitEngines
  // Of NCCL's model; empty where the times do not determine them.
  std::optional<double> share{};          // of the link's rate, reached
  std::optional<std::int64_t> base_ps{};  // of a ring with LL before the first hop, launch included
  std::optional<std::int64_t> hop_ps{};   // of a ring with LL
  // Nine of ten times are within, in percent of the shorter one: of the measured times, and further
  // for each doubling of the ranks.  Empty: the times do not say.
  std::optional<double> error_percent{}, doubling_percent{};
  std::int64_t from_bytes = 0, to_bytes = 0;  // smallest and largest size
  std::vector<int> ranks{};                   // numbers of ranks
};

struct ClusterLink {
  std::string name;
  LinkScope scope = LinkScope::kHosts;
  LinkSharing sharing = LinkSharing::kHost;
  double bytes_per_s = 0;       // each way; half duplex: both together
  std::int64_t latency_ps = 0;  // one way
  bool full_duplex = true;      // else both ways share the rate
  double under_compute = 1;     // share of the rate while devices compute
  double decline = 0;           // exponent: collectives, by hosts / 2
  std::vector<LinkFit> fits;
  std::optional<LinkCalibration> calibration{};
};

/// A throughput that was measured on one device alone.
struct DeviceThroughput {
  std::string model;
  int batch_size = 1;
  double samples_per_s = 0;
};

/// What one device can do, as far as it is known.
struct ClusterDevice {
  std::string name;
  std::optional<double> flops_per_s;         // of the precision trained in
  std::optional<double> fp8_flops_per_s;     // of 8 bits
  std::optional<double> memory_bytes_per_s;  // device memory
  std::optional<std::int64_t> memory_bytes;
  double under_transfer = 1;  // share of its speed while it communicates
  std::vector<DeviceThroughput> throughputs;
};

struct Cluster {
  std::string name;
  std::string source;  // where the figures are from
  std::vector<ClusterHost> hosts;
  std::vector<ClusterLink> links;
  ClusterDevice device{};

  int slots() const;
  std::vector<int> slots_by_host() const;

  /// The link of a scope, or nullptr.
  const ClusterLink* link(LinkScope scope) const;
};

/// Ranks per host when `world` ranks fill the hosts in their order.  Throws UsageError where the
/// cluster is smaller than that.
std::vector<plan::Rank> ranks_per_host(const Cluster& cluster, plan::Rank world);

/// Throws UsageError, one sentence with the offending value, unless every name, number and
/// combination is one that a cluster can have.
void check_cluster(const Cluster& cluster);

// cluster/cluster_hosts.cc

/// Hosts of "a:4,b:4", "node[01-08]:4" or "[fd00::7]:4" (slots default to 1).
/// A host that comes again adds its slots.  Throws UsageError.
std::vector<ClusterHost> parse_host_list(std::string_view text);

/// Hosts of an MPI hostfile: a line "name", "name slots=4" (Open MPI), "name:4" (MPICH) or
/// "name:4:adapter" (MVAPICH) each, the name also a node list ("node[01-08]") or an IPv6 address in
/// brackets, # begins a comment.  A host that comes again adds its slots; max-slots= says nothing
/// here.  `file` is what errors name.
std::vector<ClusterHost> parse_hostfile(std::string_view text, const std::string& file);

// cluster/cluster_file.cc

/// A cluster file's text, with the fits of the files that its key `collectives` names; their paths
/// start from the folder of `file`.  A fit of such a file replaces one of the same operation,
/// ranks, engine, device and placement, and its link is added where the cluster has no link of that
/// scope.  Throws UsageError, with file and line where the text is not TOML or a key is unknown.
Cluster parse_cluster(std::string_view text, const std::string& file);

/// Reads a file, or throws UsageError.
Cluster read_cluster(const std::string& path);

/// A file that parses to an equal cluster.
std::string to_toml(const Cluster& cluster);

}  // namespace paceline::cluster
