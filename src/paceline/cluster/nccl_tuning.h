// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "paceline/cluster/cluster.h"

// The constants of NCCL's tuning model for one cluster: data/nccl_tuning.toml, resolved for the
// generation of its GPUs and the kinds of its links. cluster/nccl.cc computes times from them.

namespace paceline::cluster {

enum class NcclAlgorithm : std::uint8_t {
  kRing,
  kTree,
  kNvls,
  kNvlsTree,
  kCollNetDirect,
  kCollNetChain
};
inline constexpr std::array kNcclAlgorithms{
    NcclAlgorithm::kRing,     NcclAlgorithm::kTree,          NcclAlgorithm::kNvls,
    NcclAlgorithm::kNvlsTree, NcclAlgorithm::kCollNetDirect, NcclAlgorithm::kCollNetChain};

enum class NcclProtocol : std::uint8_t { kLl, kLl128, kSimple };
inline constexpr std::array kNcclProtocols{NcclProtocol::kLl, NcclProtocol::kLl128,
                                           NcclProtocol::kSimple};

inline constexpr double kPcie5BytesPerSecond = 64e9;  // in each direction, with 16 lanes

/// Times in microseconds, indexed by NcclAlgorithm and NcclProtocol.
using NcclTimes = std::array<std::array<double, 3>, kNcclAlgorithms.size()>;

/// Rates in GB/s: for 1 node, for 2 nodes, and for more nodes.
using RatesByNodes = std::array<double, 3>;

/// The constants of one link in NCCL's model by which it differs from the data sheet or from NCCL's
/// defaults.
struct NcclLink {
  double share = 1;     // achieved fraction of the link's data-sheet rate
  double extra_us = 0;  // microseconds per hop, in addition to NCCL's own constant
  /// Microseconds in addition to NCCL's own base latency, which contain the launch from the host.
  /// Empty: not calibrated.
  std::optional<double> extra_base_us{};
};

struct NcclTuning {
  std::string generation;  // name of the GPU generation in data/nccl_tuning.toml
  bool known = true;       // whether the generation follows from the device's name
  bool nvlink = true;      // whether NVLink joins the devices of a host; else PCIe does
  bool ll128 = true;       // whether NCCL uses LL128 on these links
  NcclTimes base_us{}, device_hop_us{}, network_hop_us{};
  std::array<std::vector<double>, 3> tree_correction;  // factors on the rate of trees, by protocol
                                                       // and size
  RatesByNodes ll_rate{}, ring_ll128{}, tree_ll128{}, tree{}, nvls_tree{};
  double plateau = 1;  // factor on the latency of large rings between nodes
  int channels = 1;
  double nvlink_bytes_per_s = 0;  // by the data sheet; 0: NVLink may not join all devices
  int nvlinks = 0;                // of a device, by the data sheet; 0: not known
  double nvls_share = 0;          // fraction of NVLink's achieved rate; 0: there is no NVLS
  std::array<int, 3> nvls_channels{};
  NcclLink device, network;  // the constants by which NCCL chooses
  std::optional<NcclLink> calibrated_device{}, calibrated_network{};

  /// The constants that predict the chosen algorithm's time: calibrated, if there are any.
  const NcclLink& expected_device() const {
    return calibrated_device ? *calibrated_device : device;
  }
  const NcclLink& expected_network() const {
    return calibrated_network ? *calibrated_network : network;
  }
};

/// The error of the model against published all-reduces, inside one host or among several.
struct NcclModelError {
  /// The 90th percentile of |log(predicted time / published time)|, for calls below 2 MiB and for
  /// calls of at least 2 MiB.
  double below_2_mib = 0, from_2_mib = 0;
  // The smallest and the largest size, and the numbers of ranks, of the published calls.
  std::int64_t from_bytes = 0, to_bytes = 0;
  int least_ranks = 0, most_ranks = 0;

  /// Returns the 90th percentile for a call of `bytes` bytes.  If no call below 2 MiB was
  /// published, returns that of larger calls.
  double of(std::int64_t bytes) const {
    return bytes < 2 << 20 && below_2_mib > 0 ? below_2_mib : from_2_mib;
  }
};

/// Returns the error of NCCL's model that data/nccl_tuning.toml states.
const NcclModelError& nccl_model_error(bool several_hosts);

/// The tuning of a cluster's GPUs and links:
///
/// - the generation follows from the device's name; if the name is not known, the oldest
///   generation is used and `known` is false;
/// - devices are joined by NVLink if their link is faster than PCIe 5.0 x16
///   (64 GB/s) or is named nvlink, else by PCIe;
/// - the network is EFA if its link's name has efa, else sockets if a hop
///   takes 10 us or more, else InfiniBand;
/// - LL128 needs NVLink and a network that is not sockets;
/// - NCCL's constants contain a hop of 2 us; the excess of a longer hop is added;
/// - a link's calibration replaces, for expected times, the achieved fraction of its rate, its hop
///   and its base latency.
std::shared_ptr<const NcclTuning> nccl_tuning_of(const Cluster& cluster);

}  // namespace paceline::cluster
