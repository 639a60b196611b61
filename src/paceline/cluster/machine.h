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

// What a plan is priced on: two kinds of links, what compute and communication take from each
// other, how ranks differ, and what software costs.  All plain numbers; nothing here knows a plan.

namespace paceline::cluster {

inline constexpr std::int64_t kMostBytesPerSecond = 100'000'000'000'000;

struct LinkModel {
  std::int64_t bytes_per_s = 1'000'000'000;  // each way, or of both
  plan::Picoseconds latency = 0;             // one way
  cluster::LinkSharing sharing = cluster::LinkSharing::kDevice;
  bool full_duplex = true;
  // A collective among H hosts gets rate * (H / 2)^-decline of a network: its slowest link sets the
  // pace.
  double decline = 0;

  /// What carries the bytes of a card or bus: a link each way, or one for both.
  int links() const { return full_duplex ? 2 : 1; }
};

/// What is left of a speed while something else runs on the same rank; 1: nothing is lost.
struct Interference {
  double device_link_under_compute = 1;  // share of the device link's rate
  double compute_under_transfer = 1;     // while a transfer is in flight
};

/// What Noise may be: sigma and the straggler's factor are below these.
inline constexpr double kMostNoise = 10, kMostStragglerFactor = 1e6;

/// How compute times of ranks and steps differ.  A pure function of seed, rank and step.
struct Noise {
  std::uint64_t seed = 0;
  double sigma = 0;                  // of the log-normal factor, median 1, per rank and step
  double straggler_probability = 0;  // per rank and step
  double straggler_factor = 1;       // at least 1

  bool any() const { return sigma > 0 || straggler_probability > 0; }
};

/// How an engine carries out collectives.
enum class Algorithm : std::uint8_t {
  kRing,
  kTree,
  kHalvingDoubling,
  kHierarchical,
  kMeasured,    // fits of whole operations
  kNccl,        // what NCCL's own model chooses
  kNcclCollNet  // the same, with sums in the switches of the network
};

/// Whether NCCL's own model prices collectives and messages.
constexpr bool runs_nccl(Algorithm algorithm) {
  return algorithm == Algorithm::kNccl || algorithm == Algorithm::kNcclCollNet;
}

struct NcclTuning;  // cluster/nccl_tuning.h

struct Machine {
  LinkModel device;   // between the devices of a host
  LinkModel network;  // between hosts
  /// Whether ranks that only serve have device links.  Else they keep what they hold in their
  /// host's memory.
  bool servers_have_links = false;
  Algorithm algorithm = Algorithm::kRing;
  /// Beside kMeasured: of collectives that no fit prices, and by which a fit of other ranks is
  /// scaled.
  Algorithm unmeasured = Algorithm::kRing;
  std::shared_ptr<const NcclTuning> nccl{};  // null: of a GPU without a name
  // Whole operations, with what the engine's software costs: collectives for kMeasured, messages
  // always.
  std::vector<cluster::LinkFit> fits;         // among several hosts
  std::vector<cluster::LinkFit> device_fits;  // inside one
  // What a host that computes sends and receives together in messages over the network, bytes/s:
  // its processors copy them; 0: what the network carries.
  std::int64_t copies_bytes_per_s = 0;
  /// Collectives and messages take their bytes at the rates of the lines, and nothing else: no
  /// latency, no limit by an algorithm or a fit.
  bool lines_alone = false;
  Interference interference;
  Noise noise;
};

/// The links of a cluster, what they and its devices lose to each other, and their fits that were
/// measured with `engine` or do not say with which.  A cluster that lacks a link uses the other for
/// both; throws UsageError where it has none.
Machine machine_of(const cluster::Cluster& cluster, std::string_view engine);

/// Whether a fit of the machine is of a collective: those of messages say nothing of what
/// collectives take.
bool prices_collectives(const Machine& machine);

/// ring, tree, halving-doubling, hierarchical, measured, nccl, nccl-collnet. Throws UsageError.
Algorithm algorithm_named(const std::string& name);
std::string_view name_of(Algorithm algorithm);

/// launch + launch_per_tensor * tensors + bytes / bytes_per_s; bytes are all that a kernel reads
/// and writes.
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
  /// Host time per operation that a rank issues, one after another: NCCL's launch, Gloo's hand-off.
  plan::Picoseconds issue = 0;

  /// Added to each collective's start: fixed, per member, and, while a member computes, times the
  /// logarithm (base 2) of the members.
  plan::Picoseconds collective = 0, collective_per_rank = 0;
  plan::Picoseconds collective_under_compute = 0;

  /// Added to each message.
  plan::Picoseconds message = 0;

  /// How many collectives a communicator carries at once, in its order: 1 on NCCL's stream.  Those
  /// in flight share the links.  0: all.
  std::int32_t concurrent_collectives = 1;

  /// Operations of all communicators are issued in program order, and those of different
  /// communicators follow each other on each rank (plan::EngineTraits::one_issue_order).
  bool one_issue_order = false;

  /// Kernels and model work of a rank take turns on its device: a kernel starts where no model work
  /// is ready.  Else kernels run beside model work.
  bool kernels_on_device = false;

  /// The first entry that matches a kernel prices it.  Without a match a kernel takes no time.
  std::vector<KernelCost> kernels{};
};

/// Throws UsageError, one sentence with the offending value, for negative
/// times and rates, and for shares outside ]0, 1].
void check_costs(const Machine& machine, const SoftwareCosts& software);

}  // namespace paceline::cluster
