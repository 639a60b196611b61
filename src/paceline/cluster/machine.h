// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "paceline/cluster/cluster.h"
#include "paceline/cluster/fair_share.h"
#include "paceline/plan/int128.h"
#include "paceline/plan/profile.h"

// The machine model that predicts the times of a plan: two kinds of links, the slowdown of compute
// and communication by each other, differences between ranks, and software costs.  All of these are
// plain numbers and independent of plans.

namespace paceline::cluster {

inline constexpr std::int64_t kMostBytesPerSecond = 100'000'000'000'000;

struct LinkModel {
  std::int64_t bytes_per_s = 1'000'000'000;  // each way; half duplex: both ways together
  plan::Picoseconds latency = 0;             // one way
  cluster::LinkSharing sharing = cluster::LinkSharing::kDevice;
  bool full_duplex = true;
  // A collective among H hosts gets rate * (H / 2)^-decline of a network, because the slowest of
  // its links limits the rate.
  double decline = 0;

  /// The number of links that carry the bytes of a card or bus: one per direction, or one for both.
  int links() const { return full_duplex ? 2 : 1; }
};

/// How much compute and communication of one rank slow each other down, as fractions of the speed
/// that is left; 1: no slowdown.
struct Interference {
  double device_link_under_compute = 1;  // fraction of the device link's rate
  double compute_under_transfer = 1;     // of the compute speed, while a transfer is in flight
};

inline constexpr double kMostNoise = 10;  // sigma of Noise must be below this

/// Models how compute times differ between ranks and steps, by a log-normal factor with median 1
/// that is a pure function of seed, rank and step.
struct Noise {
  std::uint64_t seed = 0;
  double sigma = 0;

  bool any() const { return sigma > 0; }
};

/// The algorithm by which an engine is assumed to perform collectives.
enum class Algorithm : std::uint8_t {
  kRing,
  kTree,
  kMeasured,    // by measured fits of whole operations
  kNccl,        // the choice of NCCL's own model
  kNcclCollNet  // as kNccl, with sums in the switches of the network
};

/// Whether NCCL's own tuning model predicts the times of collectives and messages.
constexpr bool uses_nccl_model(Algorithm algorithm) {
  return algorithm == Algorithm::kNccl || algorithm == Algorithm::kNcclCollNet;
}

struct NcclTuning;  // cluster/nccl_tuning.h

struct Machine {
  LinkModel device;   // link between the devices of a host
  LinkModel network;  // link between hosts
  /// Whether ranks that are only servers have device links.  If not, their data is in their host's
  /// memory.
  bool servers_have_links = false;
  Algorithm algorithm = Algorithm::kRing;
  /// The model that kMeasured uses for collectives without a fit, and to scale a fit to another
  /// number of ranks.
  Algorithm fallback_algorithm = Algorithm::kRing;
  std::shared_ptr<const NcclTuning> nccl{};  // null: the GPU is unknown
  // Fits of whole operations, whose times include the engine's software costs.  Fits of collectives
  // are used only if `algorithm` is kMeasured, fits of messages always.
  std::vector<cluster::LinkFit> fits;         // for operations among several hosts
  std::vector<cluster::LinkFit> device_fits;  // for operations inside one host
  // The rate, in bytes/s, at which a host that computes can send and receive messages over the
  // network, both together, because its processors copy them; 0: only the network limits the rate.
  std::int64_t copies_bytes_per_s = 0;
  /// If true, collectives and messages take only the time of their bytes at the rates of the links,
  /// without latency and without the rate limit of an algorithm or a fit.
  bool link_rates_only = false;
  Interference interference;
  Noise noise;
};

/// Returns a cluster's links, their interference with its devices, and their fits, if these were
/// measured with `engine` or with an unknown engine.  If the cluster lacks one of the two links,
/// the other is used for both; throws UsageError if it has no link.
Machine machine_of(const cluster::Cluster& cluster, std::string_view engine);

/// Whether the machine has a fit of a collective.  Fits of messages do not give the time of
/// collectives.
bool has_collective_fit(const Machine& machine);

/// Returns the algorithm called ring, tree, measured, nccl or nccl-collnet.  Throws UsageError for
/// other names.
Algorithm algorithm_named(const std::string& name);
std::string_view name_of(Algorithm algorithm);

/// The cost of a kernel: launch + launch_per_tensor * tensors + bytes / bytes_per_s, where bytes
/// are all bytes that the kernel reads and writes.
struct KernelCost {
  /// Only kernels of the optimizer's step (plan::KernelTraits) have this cost; false: every kernel
  /// has it.
  bool optimizer_step = false;
  /// The name of the only kernel that has this cost; empty: `optimizer_step` says which kernels
  /// have it.
  std::string kernel{};
  plan::Picoseconds launch = 0;
  plan::Picoseconds launch_per_tensor = 0;
  double bytes_per_s = 0;  // 0: bytes cost nothing
};

struct SoftwareCosts {
  /// Host time for issuing an operation, one after another on each rank: NCCL's launch, Gloo's
  /// hand-off.
  plan::Picoseconds issue = 0;

  /// Time added to each collective's start: a fixed time, a time per member, and, while a member
  /// computes, a time that is multiplied by the logarithm (base 2) of the number of members.
  plan::Picoseconds collective = 0, collective_per_rank = 0;
  plan::Picoseconds collective_under_compute = 0;

  /// Time added to each message, in addition to the time on the link.
  plan::Picoseconds message = 0;

  /// The number of collectives that a communicator performs at a time, in its order; 1 for NCCL's
  /// stream.  Collectives in flight share the links.  0: no limit.
  std::int32_t concurrent_collectives = 1;

  /// If true, operations of all communicators are issued in program order, and on each rank
  /// operations of different communicators follow each other (plan::EngineTraits::one_issue_order).
  bool one_issue_order = false;

  /// If true, kernels and model work of a rank take turns on its device, and a kernel starts only
  /// if no model work is ready.  If false, kernels run beside model work.
  bool kernels_on_device = false;

  /// The first entry that matches a kernel gives its cost.  A kernel without a match takes no time.
  std::vector<KernelCost> kernels{};
};

/// Throws UsageError, one sentence with the offending value, for negative times and rates, and for
/// fractions outside ]0, 1].
void check_costs(const Machine& machine, const SoftwareCosts& software);

}  // namespace paceline::cluster
