// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string_view>

#include "paceline/cluster/machine.h"
#include "paceline/cluster/nccl_tuning.h"
#include "paceline/plan/comm_plan.h"

namespace paceline::cluster {

/// Who takes part in a collective, as far as its price depends on it.
struct Group {
  plan::Rank ranks = 1;
  plan::Rank hosts = 1;
  plan::Rank most_local = 1;  // members on the fullest host

  friend auto operator<=>(const Group&, const Group&) = default;
};

struct CollectiveCall {
  plan::Pattern pattern{};
  std::int64_t bytes = 0;  // the longer of its two sides
  Group group;
};

/// A part of a transfer: first it waits, then its bytes flow through the
/// device link of every member and, where it leaves the host, the network
/// link of every host.  A weight says how many times `bytes` cross such a
/// link.
struct Stage {
  plan::Picoseconds latency = 0;
  std::int64_t bytes = 0;
  std::int64_t device_weight = kWeightOne;
  std::int64_t network_weight = kWeightOne;  // of a host's whole network link
  std::int64_t limit_bytes_per_s = std::numeric_limits<std::int64_t>::max();
};

/// The bytes of a stage at the rates of the lines that they cross.
constexpr Stage line_alone(Stage stage) {
  stage.latency = 0;
  stage.limit_bytes_per_s = std::numeric_limits<std::int64_t>::max();
  return stage;
}

/// Up to three stages, one after another.
struct Price {
  std::array<Stage, 3> stages;
  int count = 0;

  void add(const Stage& stage) {
    stages[static_cast<std::size_t>(count)] = stage;
    ++count;
  }
};

/// The price of a collective, alone on the machine, under its algorithm.  A collective among one
/// rank is free.
Price price(const CollectiveCall& call, const Machine& machine);

/// One file each: formula, units, source.
Price ring_price(const CollectiveCall& call, const Machine& machine);
Price tree_price(const CollectiveCall& call, const Machine& machine);
Price halving_doubling_price(const CollectiveCall& call, const Machine& machine);
Price hierarchical_price(const CollectiveCall& call, const Machine& machine);
Price measured_price(const CollectiveCall& call, const Machine& machine);
Price nccl_price(const CollectiveCall& call, const Machine& machine);

/// The rate, bytes/s, of a flow of every member that crosses the device link
/// of each once, and the network link of each host once: what the lines carry for a ring.
std::int64_t device_line(const Group& group, const Machine& machine);
std::int64_t network_line(const Group& group, const Machine& machine);

/// What NCCL's own model says of a call.
struct NcclChoice {
  NcclAlgorithm algorithm{};
  NcclProtocol protocol{};
  double model_us = 0;  // by which NCCL chooses
  Stage stage{};        // what is expected, cluster/nccl.cc
};

/// The algorithm and protocol with the smallest time of NCCL's model.
NcclChoice nccl_choice(const CollectiveCall& call, const Machine& machine);

/// Whether NCCL's model prices collectives inside a host or among several with a base latency that
/// was calibrated, in which the launch of the host is.
bool launch_is_calibrated(bool several_hosts, const Machine& machine);

/// A message by ncclSend and ncclRecv.
Stage nccl_message_stage(std::int64_t bytes, bool remote, const Machine& machine);

/// The fit that prices the call: of its operation and of the links between its members, among the
/// nearest number of ranks.  For other ranks it is scaled by what the machine's `unmeasured`
/// algorithm says of both.  Null where there is none, or another algorithm holds.  What software
/// costs is in it.
const cluster::LinkFit* measured_fit(const CollectiveCall& call, const Machine& machine);

/// The price of a message from rank to rank, alone on the machine, without what software adds.
/// `remote`: between hosts.
Stage message_stage(std::int64_t bytes, bool remote, const Machine& machine);

/// The fit that prices a message whatever the algorithm of collectives, or null.  What software
/// costs is in it.
const cluster::LinkFit* message_fit(bool remote, const Machine& machine);

/// The piece of a fit that holds for `bytes`.
const plan::AlphaBetaPiece& piece_of(const cluster::LinkFit& fit, std::int64_t bytes);

/// The rate, as of a link, at which `flow` bytes take the time that the piece gives for `bytes`.
std::int64_t limit_of(const plan::AlphaBetaPiece& piece, std::int64_t bytes, std::int64_t flow);

/// Whole logarithm to base 2, rounded up: rounds of a binary tree.
constexpr std::int64_t log2_up(std::int64_t value) {
  std::int64_t rounds = 0;
  while ((std::int64_t{1} << rounds) < value) {
    ++rounds;
  }
  return rounds;
}

/// What one hop costs where all members step together: the slowest link.
inline plan::Picoseconds hop(const Group& group, const Machine& machine) {
  const plan::Picoseconds inside = group.most_local > 1 ? machine.device.latency : 0;
  const plan::Picoseconds outside = group.hosts > 1 ? machine.network.latency : 0;
  return inside > outside ? inside : outside;
}

/// `part` of `whole` as a weight, rounded up; 0 / 0 is 0.
constexpr std::int64_t weight_of(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? 0 : (part * kWeightOne + whole - 1) / whole;
}

/// How long a price takes on a machine that does nothing else, in closed form: per stage latency +
/// bytes over the slowest of limit, device link and
/// network link.
plan::Picoseconds alone(const Price& price, const Group& group, const Machine& machine);

}  // namespace paceline::cluster
