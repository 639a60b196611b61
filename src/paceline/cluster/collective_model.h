// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

#include "paceline/cluster/machine.h"
#include "paceline/cluster/nccl_tuning.h"
#include "paceline/plan/comm_plan.h"

namespace paceline::cluster {

/// The members of a collective, as far as its cost depends on them.
struct Group {
  plan::Rank ranks = 1;
  plan::Rank hosts = 1;
  plan::Rank ranks_on_fullest_host = 1;  // number of members on the fullest host

  friend auto operator<=>(const Group&, const Group&) = default;
};

struct CollectiveCall {
  plan::Pattern pattern{};
  std::int64_t bytes = 0;  // the longer of input and output
  Group group;
};

/// The cost of a transfer: after its latency, its bytes flow through the device link of every
/// member and, if they leave the host, through the network link of every host.  A weight is the
/// number of times that `bytes` cross such a link, in units of 1 / kWeightOne.
struct TransferCost {
  plan::Picoseconds latency = 0;
  std::int64_t bytes = 0;
  std::int64_t device_weight = kWeightOne;
  std::int64_t network_weight = kWeightOne;  // on the network link of a host
  std::int64_t limit_bytes_per_s = std::numeric_limits<std::int64_t>::max();
};

/// Returns the cost without latency and limit: only the rates of the links determine its time.
constexpr TransferCost without_latency_and_limit(TransferCost cost) {
  cost.latency = 0;
  cost.limit_bytes_per_s = std::numeric_limits<std::int64_t>::max();
  return cost;
}

/// Returns the cost of a collective under the machine's algorithm on an otherwise idle machine.
/// Empty for a collective of one rank, which takes no time.
std::optional<TransferCost> collective_cost(const CollectiveCall& call, const Machine& machine);

/// The cost by each algorithm, for several ranks.  Each function has its own file, which states the
/// formula, the units and the source.
TransferCost ring_cost(const CollectiveCall& call, const Machine& machine);
TransferCost tree_cost(const CollectiveCall& call, const Machine& machine);
TransferCost measured_cost(const CollectiveCall& call, const Machine& machine);

/// Returns the rate, in bytes/s, of a ring.  The first function counts only device links, each of
/// which the flow crosses once per member; the second only network links, once per host.
std::int64_t device_ring_bytes_per_s(const Group& group, const Machine& machine);
std::int64_t network_ring_bytes_per_s(const Group& group, const Machine& machine);

/// The algorithm and protocol that NCCL chooses for a call.
struct NcclChoice {
  NcclAlgorithm algorithm{};
  NcclProtocol protocol{};
  double model_us = 0;  // time in NCCL's model; NCCL chooses the pair with the smallest
  TransferCost cost{};  // expected cost of the chosen pair, see cluster/nccl.cc
};

/// Returns the algorithm and protocol with the smallest time in NCCL's model.
NcclChoice nccl_choice(const CollectiveCall& call, const Machine& machine);

/// Whether collectives (inside a host, or with `several_hosts` among hosts) are predicted by NCCL's
/// model with a calibrated base latency. Such a latency includes the launch of the kernel from the
/// host.
bool launch_is_calibrated(bool several_hosts, const Machine& machine);

/// Returns the cost of a message sent by ncclSend and ncclRecv.
TransferCost nccl_message_cost(std::int64_t bytes, bool remote, const Machine& machine);

/// Returns the fit that predicts the call: a fit of the call's operation, of the links between its
/// members, and of the nearest number of ranks.  cluster/measured.cc says what other numbers of
/// ranks cost.  Null if there is no such fit, or the machine's algorithm is not kMeasured.  The fit
/// includes software costs.
const cluster::LinkFit* measured_fit(const CollectiveCall& call, const Machine& machine);

/// Returns the cost of a message between two ranks, if nothing else uses the machine, without
/// software costs.  `remote`: the ranks are on different hosts.
TransferCost message_cost(std::int64_t bytes, bool remote, const Machine& machine);

/// Returns the fit that predicts a message, whatever the collectives' algorithm, or null.  The fit
/// includes software costs.
const cluster::LinkFit* message_fit(bool remote, const Machine& machine);

/// Returns the piece of a fit that applies to `bytes` bytes.
const plan::AlphaBetaPiece& piece_of(const cluster::LinkFit& fit, std::int64_t bytes);

/// Returns the rate, in bytes/s, at which `flow` bytes take `seconds`.
std::int64_t limit_bytes_per_s_of(double seconds, double flow);

/// Returns the logarithm to base 2, rounded up: the rounds of a binary tree.
constexpr std::int64_t log2_up(std::int64_t value) {
  std::int64_t rounds = 0;
  while ((std::int64_t{1} << rounds) < value) {
    ++rounds;
  }
  return rounds;
}

/// Returns the latency of one hop of a collective whose members all send at the same time: the
/// larger latency of the links in use.
inline plan::Picoseconds hop(const Group& group, const Machine& machine) {
  const plan::Picoseconds inside = group.ranks_on_fullest_host > 1 ? machine.device.latency : 0;
  const plan::Picoseconds outside = group.hosts > 1 ? machine.network.latency : 0;
  return inside > outside ? inside : outside;
}

/// Returns part / whole as a weight in units of 1 / kWeightOne, rounded up; 0 / 0 is 0.
constexpr std::int64_t fixed_point_weight(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? 0 : (part * kWeightOne + whole - 1) / whole;
}

/// Returns the time of a transfer on an otherwise idle machine: its latency plus its bytes over the
/// lowest of the rate limit, the device link's rate and the network link's rate; 0 without a cost.
plan::Picoseconds alone(const std::optional<TransferCost>& cost, const Group& group,
                        const Machine& machine);

}  // namespace paceline::cluster
