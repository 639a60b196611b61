// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "paceline/plan/alpha_beta.h"
#include "paceline/plan/comm_plan.h"
#include "paceline/plan/engine_traits.h"

// A cluster as one file describes it: the hosts on which ranks are started, the links that they
// share, and the speeds of the devices.  docs/cluster-file.md has the keys.  Code that starts
// ranks, measures links or predicts uses this type.

namespace paceline::cluster {

inline constexpr int kMostSlots = 1 << 24;  // of a whole cluster

struct ClusterHost {
  std::string name;
  int slots = 1;             // number of ranks, one per device
  std::string interface {};  // network interface; empty: the engine's choice
  std::optional<std::int64_t> memory_bytes{};
};

/// What a link connects: hosts with each other, or the devices inside a host.
enum class LinkScope : std::uint8_t {
  kHosts,   // the network
  kDevices  // the devices of one host: PCIe, NVLink, shared memory
};

/// Which slots share one link of this kind, in each direction.
enum class LinkSharing : std::uint8_t {
  kHost,   // all slots of a host share one link: its network card, or its bus
  kDevice  // every slot has a link of its own
};

// The values that LinkFit::engine and LinkFit::device may have.  The engines are those of
// plan::kEngines and published programs.
inline constexpr auto kFitEngines = [] {
  constexpr std::array<std::string_view, 3> kPublished{"bytescheduler", "byteps", "bluefog"};
  std::array<std::string_view, plan::kEngines.size() + kPublished.size()> names{};
  std::ranges::copy(
      kPublished,
      std::ranges::transform(plan::kEngines, names.begin(), &plan::EngineTraits::name).out);
  return names;
}();
inline constexpr std::array<std::string_view, 2> kFitDevices{"cpu", "cuda"};

/// The measured time of one operation among `ranks` ranks on a link, as a function of its size.
struct LinkFit {
  std::string operation;  // one of plan::kOperations
  int ranks = 2;
  plan::AlphaBetaTime line;
  std::optional<double> error_percent;  // mean absolute error of the fit
  std::string engine{};                 // one of kFitEngines; empty: unknown
  std::string device{};                 // cpu, cuda; empty: unknown
  std::vector<int> ranks_per_host{};    // in rank order; empty: unknown
  // The smallest and the largest measured size in bytes. They are copied from the link's
  // calibration; a cluster file has no such keys for a fit itself.
  std::int64_t from_bytes = 0, to_bytes = std::numeric_limits<std::int64_t>::max();
};

/// The result of `paceline calibrate` for an engine's model of collectives on a link: constants
/// that replace those of data/nccl_tuning.toml, the error of the model, and the range of the
/// measured calls.
struct LinkCalibration {
  std::string engine;  // engine whose model is calibrated, one of kFitEngines
  // Constants of NCCL's model; empty where the measured times do not determine them.
  std::optional<double> share{};          // achieved fraction of the link's data-sheet rate
  std::optional<std::int64_t> base_ps{};  // base latency of a ring with LL, with the launch
  std::optional<std::int64_t> hop_ps{};   // latency of one hop of a ring with LL
  // `error_percent` is the error that nine of ten predicted times do not exceed, in percent of the
  // shorter of the predicted and the measured time.  `doubling_percent` is its increase per
  // doubling of the ranks.  Empty: unknown.
  std::optional<double> error_percent{}, doubling_percent{};
  std::int64_t from_bytes = 0, to_bytes = 0;  // smallest and largest measured size
  std::vector<int> ranks{};                   // numbers of ranks that were measured
};

struct ClusterLink {
  std::string name;
  LinkScope scope = LinkScope::kHosts;
  LinkSharing sharing = LinkSharing::kHost;
  double bytes_per_s = 0;       // each way; half duplex: both ways together
  std::int64_t latency_ps = 0;  // time of a message in one direction
  bool full_duplex = true;      // false: both ways share the rate
  double under_compute = 1;     // fraction of the rate that is left while devices compute
  double decline = 0;           // exponent d: a collective among H hosts gets rate * (H / 2)^-d
  std::vector<LinkFit> fits;
  std::optional<LinkCalibration> calibration{};
};

/// A throughput that was measured on a single device.
struct DeviceThroughput {
  std::string model;
  int batch_size = 1;
  double samples_per_s = 0;
};

/// The speeds and sizes of one device, as far as they are known.
struct ClusterDevice {
  std::string name;
  std::optional<double> flops_per_s;         // peak rate in the number type of the training
  std::optional<double> fp8_flops_per_s;     // peak rate in 8-bit floating point
  std::optional<double> memory_bytes_per_s;  // rate of the device's memory
  std::optional<std::int64_t> memory_bytes;
  double under_transfer = 1;  // fraction of its compute speed that is left while it communicates
  std::vector<DeviceThroughput> throughputs;
};

struct Cluster {
  std::string name;
  std::string source;  // origin of the numbers, such as a paper
  std::vector<ClusterHost> hosts;
  std::vector<ClusterLink> links;
  ClusterDevice device{};

  int slots() const;
  std::vector<int> slots_by_host() const;

  /// Returns the link between hosts or the link between devices; null if the cluster has none.
  const ClusterLink* link(LinkScope scope) const;
};

/// Returns the number of ranks on each host if `world` ranks fill the hosts' slots in order.
/// Throws UsageError if the cluster has fewer slots.
std::vector<plan::Rank> ranks_per_host(const Cluster& cluster, plan::Rank world);

/// Throws UsageError for a name that no host can have.
void check_host(const ClusterHost& host);

/// Throws UsageError unless there is a host, all names are possible and distinct, and the cluster
/// is not too large.
void check_hosts(const std::vector<ClusterHost>& hosts);

// The following functions are in cluster/cluster_hosts.cc.

/// Parses the hosts of "a:4,b:4", "node[01-08]:4" or "[fd00::7]:4" (slots default to 1).  A host
/// that is listed again adds its slots.  Throws UsageError.
std::vector<ClusterHost> parse_host_list(std::string_view text);

/// Parses the hosts of an MPI hostfile.  Each line is "name", "name slots=4" (Open MPI), "name:4"
/// (MPICH) or "name:4:adapter" (MVAPICH).  The name may also be a node list ("node[01-08]") or an
/// IPv6 address in brackets; # begins a comment.  A host that is listed again adds its slots;
/// max-slots= is ignored.  Errors name `file`.
std::vector<ClusterHost> parse_hostfile(std::string_view text, const std::string& file);

// The following functions are in cluster/cluster_file.cc.

/// Parses a cluster file's text, and adds the fits of the files that its key `collectives` names;
/// their paths are relative to the folder of `file`.  A fit of such a file replaces a fit of the
/// same operation, ranks, engine, device and placement.  If the cluster has no link of that scope,
/// the file's link is added.  Throws UsageError; if the text is not TOML or a key is unknown, with
/// file and line.
Cluster parse_cluster(std::string_view text, const std::string& file);

/// Reads a cluster file, given its path or its name in clusters/; throws UsageError.
Cluster read_cluster(const std::string& path);

/// Returns the text of a file that parses to an equal cluster.
std::string to_toml(const Cluster& cluster);

}  // namespace paceline::cluster
