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

/// Microseconds by algorithm and protocol.
using NcclTimes = std::array<std::array<double, 3>, kNcclAlgorithms.size()>;

/// GB/s on 1, 2, and more nodes.
using RatesByNodes = std::array<double, 3>;

/// How a rate or a latency of one link differs from its data sheet and from NCCL's own constants.
struct NcclLink {
  double share = 1;     // of the line that is reached
  double extra_us = 0;  // of a hop, beyond NCCL's own constant
  /// Beyond NCCL's own base latency, with the launch of the host; empty: nothing, without it.
  std::optional<double> extra_base_us{};
};

struct NcclTuning {
  std::string generation;  // of data/nccl_tuning.toml
  bool known = true;       // whether the device's name says the generation
  bool nvlink = true;      // else PCIe joins the devices of a host
  bool ll128 = true;       // whether NCCL uses LL128 on these links
  NcclTimes base_us{}, device_hop_us{}, network_hop_us{};
  std::array<std::vector<double>, 3> tree_correction;  // by protocol
  RatesByNodes ll_rate{}, ring_ll128{}, tree_ll128{}, tree{}, nvls_tree{};
  double plateau = 1;  // of a large ring's latency between nodes
  int channels = 1;
  double nvlink_bytes_per_s = 0;  // of the data sheet; 0: not known to join all devices of a host
  double nvls_share = 0;          // of NVLink's reached rate; 0: there is no NVLS
  std::array<int, 3> nvls_channels{};
  NcclLink device, network;  // by which NCCL chooses
  std::optional<NcclLink> calibrated_device{}, calibrated_network{};

  /// By which the time of what was chosen is expected.
  const NcclLink& reached_device() const { return calibrated_device ? *calibrated_device : device; }
  const NcclLink& reached_network() const {
    return calibrated_network ? *calibrated_network : network;
  }
};

/// How far the model is off published all-reduces, inside one host or among several.
struct NcclModelError {
  /// Nine of ten are within: the logarithm of the longer time over the shorter one.
  double below_2_mib = 0, from_2_mib = 0;
  // Of what was published.
  std::int64_t from_bytes = 0, to_bytes = 0;
  int least_ranks = 0, most_ranks = 0;

  /// Where no small size was published, that of the larger ones.
  double of(std::int64_t bytes) const {
    return bytes < 2 << 20 && below_2_mib > 0 ? below_2_mib : from_2_mib;
  }
};

/// That of data/nccl_tuning.toml.
const NcclModelError& nccl_model_error(bool several_hosts);

/// The tuning of a cluster's GPUs and links:
///
/// - the generation follows from the device's name; the oldest is taken where
///   the name is not known, and `known` is false;
/// - devices are joined by NVLink where their link is faster than PCIe 5.0 x16
///   (64 GB/s) or is named nvlink, else by PCIe;
/// - the network is EFA where its link's name has efa, else sockets where a hop
///   takes 10 us or more, else InfiniBand;
/// - LL128 needs NVLink, and no sockets;
/// - a hop that takes longer than 2 us, which NCCL's constants hold, adds what
///   is longer;
/// - a link's calibration says of the expected times what is reached of its rate, its hop and its
///   base latency.
std::shared_ptr<const NcclTuning> nccl_tuning_of(const Cluster& cluster);

}  // namespace paceline::cluster
