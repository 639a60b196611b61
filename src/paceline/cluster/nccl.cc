// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>

#include "paceline/cluster/collective_model.h"
#include "paceline/cluster/nccl_tuning.h"
#include "paceline/plan/int128.h"
#include "paceline/plan/wire_bytes.h"

namespace paceline::cluster {
namespace {

using plan::Pattern;
using Algo = NcclAlgorithm;
using Proto = NcclProtocol;

constexpr double kGiga = 1e9;

/// The inputs of NCCL's model for one call. The same model gives NCCL's choice and the expected
/// time. Rates are in GB/s.
struct ModelInputs {
  const NcclTuning& tuning;
  const CollectiveCall& call;
  NcclLink device, network;  // constants by which NCCL chooses, or those of the expected time
  double ranks, hosts;       // numbers of members and of hosts
  double local;              // members per host: the mean for NCCL's choice, the fullest host's for
                             // the expected time
  double inside, across;     // achieved rates inside a host, and between hosts
  std::size_t nodes_index;   // index of RatesByNodes
  bool chooses;              // true: computes NCCL's choice; false: the expected time

  double bytes() const { return static_cast<double>(call.bytes); }
  bool all_reduce() const { return call.pattern == Pattern::kAllReduce; }
  bool one_host() const { return call.group.hosts == 1; }
  /// Returns the rate in GB/s of a ring in this collective.
  double bus() const {
    if (one_host()) {
      return inside;
    }
    return call.group.ranks_on_fullest_host == 1 ? across : std::min(inside, across);
  }
  /// The rate of all channels together, if `rate` has the rate of one channel.
  double channels_rate_gb_per_s(const RatesByNodes& rate) const {
    return tuning.channels * rate[nodes_index];
  }
  /// Returns the number of hops of a ring for this collective.
  double hops() const { return (all_reduce() ? 2 : 1) * (ranks - 1); }
  /// The number of steps by which NCCL computes the rate of a ring.
  double steps() const { return call.pattern == Pattern::kBroadcast ? ranks : hops(); }
};

const NcclTuning& tuning_of(const Machine& machine) {
  static const auto unnamed = nccl_tuning_of(Cluster{});
  return machine.nccl ? *machine.nccl : *unnamed;
}

ModelInputs model_inputs_of(const CollectiveCall& call, const Machine& machine, bool chooses) {
  const NcclTuning& tuning = tuning_of(machine);
  const NcclLink& device = chooses ? tuning.device : tuning.expected_device();
  const NcclLink& network = chooses ? tuning.network : tuning.expected_network();
  const Group& group = call.group;
  return {
      .tuning = tuning,
      .call = call,
      .device = device,
      .network = network,
      .ranks = static_cast<double>(group.ranks),
      .hosts = static_cast<double>(group.hosts),
      .local =
          chooses ? static_cast<double>(group.ranks) / group.hosts : group.ranks_on_fullest_host,
      .inside = device.share * static_cast<double>(device_ring_bytes_per_s(group, machine)) / kGiga,
      .across =
          network.share * static_cast<double>(network_ring_bytes_per_s(group, machine)) / kGiga,
      .nodes_index = static_cast<std::size_t>(std::min<plan::Rank>(group.hosts, 3) - 1),
      .chooses = chooses};
}

double of(const NcclTimes& times, Algo algorithm, Proto protocol) {
  return times[static_cast<std::size_t>(algorithm)][static_cast<std::size_t>(protocol)];
}

double log2_down(plan::Rank value) { return std::bit_width(static_cast<std::uint32_t>(value)) - 1; }

/// Returns the latency of a hop between hosts, in us.
double adjusted_network_hop_us(const ModelInputs& inputs, Algo algorithm, Proto protocol) {
  // If each host has one member, no other work hides the latency of a ring's hop.
  const bool exposed = inputs.call.group.ranks == inputs.call.group.hosts;
  const double hop = of(inputs.tuning.network_hop_us, exposed ? Algo::kTree : algorithm, protocol);
  // The protocol Simple also waits until the data that the card wrote is flushed.
  return std::max(0.0, hop + inputs.network.extra_us * (protocol == Proto::kSimple ? 2 : 1));
}

double adjusted_device_hop_us(const ModelInputs& inputs, Algo algorithm, Proto protocol) {
  const double hop = of(inputs.tuning.device_hop_us, algorithm, protocol);
  return std::max(0.0, hop + inputs.device.extra_us);
}

/// Returns the latency before the first hop, in us.
double base_us(const NcclTuning& tuning, const NcclLink& link, Algo algorithm, Proto protocol) {
  return std::max(0.0, of(tuning.base_us, algorithm, protocol) + link.extra_base_us.value_or(0));
}

double ring_us(const ModelInputs& inputs, Proto protocol) {
  const bool several = !inputs.one_host();
  if (inputs.chooses && inputs.call.pattern == Pattern::kBroadcast) {
    return several ? adjusted_network_hop_us(inputs, Algo::kRing, protocol)
                   : adjusted_device_hop_us(inputs, Algo::kRing, protocol);
  }
  // Posting to a network card takes 1 us; the protocol Simple posts three times per step.
  const double post = protocol == Proto::kSimple ? 3 : 1;
  const double inside = adjusted_device_hop_us(inputs, Algo::kRing, protocol);
  const double between = several ? (inputs.all_reduce() ? 2 : 1) * (inputs.hosts - 1) : 0;
  double us = (inputs.hops() - between) * (several ? std::max(inside, post) : inside) +
              between * adjusted_network_hop_us(inputs, Algo::kRing, protocol);
  constexpr double kSlice = 64;  // bytes per channel and step
  if (several && inputs.all_reduce() && protocol == Proto::kSimple &&
      inputs.bytes() / (inputs.tuning.channels * inputs.ranks) >= kSlice) {
    us *= inputs.tuning.plateau;
  }
  return us;
}

/// Returns the latency of the whole collective in NCCL's model, in microseconds.
double latency_us(const ModelInputs& inputs, Algo algorithm, Proto protocol) {
  const double inside = adjusted_device_hop_us(inputs, algorithm, protocol);
  const double between =
      inputs.one_host() ? 0 : adjusted_network_hop_us(inputs, algorithm, protocol);
  const double rounds = log2_down(inputs.call.group.hosts);
  const double base = base_us(inputs.tuning, inputs.one_host() ? inputs.device : inputs.network,
                              algorithm, protocol);
  constexpr double kArity = 0.4;  // microseconds, for each member that a GPU serves
  switch (algorithm) {
    case Algo::kRing:
      return base + ring_us(inputs, protocol);
    case Algo::kTree:
      return base + 2 * ((inputs.local - 1) * inside + rounds * between);
    case Algo::kNvls:
      return base + inside + between;
    case Algo::kNvlsTree:
      return base + inside + 2 * rounds * between;
    case Algo::kCollNetDirect:
      return base + 2 * (std::min(1.0, inputs.local - 1) * inside + (inputs.local - 1) * kArity) +
             between;
    case Algo::kCollNetChain:
      return base + 2 * (inputs.local - 1) * inside + between;
  }
  return base;
}

double ring_gb_per_s(const ModelInputs& inputs, Proto protocol) {
  const NcclTuning& tuning = inputs.tuning;
  const double bus = inputs.bus();
  switch (protocol) {
    case Proto::kLl:  // half of what it sends are flags
      return std::min(tuning.ll_rate[inputs.nodes_index], bus * 0.5);
    case Proto::kLl128:  // 120 of 128 bytes are data
      return std::min(bus * 0.92, inputs.channels_rate_gb_per_s(tuning.ring_ll128));
    case Proto::kSimple:
      break;
  }
  return bus;
}

double tree_gb_per_s(const ModelInputs& inputs, Proto protocol) {
  const NcclTuning& tuning = inputs.tuning;
  double rate = std::min(inputs.bus() * 0.92, inputs.channels_rate_gb_per_s(tuning.tree));
  if (protocol == Proto::kLl) {
    rate = std::min(rate / 3.8, tuning.ll_rate[inputs.nodes_index]);
  } else if (protocol == Proto::kLl128) {
    rate = std::min(rate * (inputs.one_host() ? 7.0 / 9 : 120.0 / 128),
                    inputs.channels_rate_gb_per_s(tuning.tree_ll128));
  }
  const auto& correction = tuning.tree_correction[static_cast<std::size_t>(protocol)];
  const auto units = static_cast<std::uint64_t>(inputs.call.bytes) >> 6U;
  const auto power = static_cast<std::size_t>(std::bit_width(units));
  return power > 0 && power <= correction.size() ? rate * correction[power - 1] : rate;
}

double nvls_channels(const ModelInputs& inputs) {
  return inputs.tuning.nvls_channels[inputs.nodes_index];
}

/// Returns the rate of NVLS, in GB/s, with which NCCL compares it to other algorithms.  An
/// all-reduce counts as two operations, one after the other.
double nvls_gb_per_s(const ModelInputs& inputs, Algo algorithm) {
  const double channels = nvls_channels(inputs);
  const double part = inputs.all_reduce() ? 2 : (inputs.local - 1) / inputs.local;
  const double inside = inputs.inside * inputs.tuning.nvls_share * (channels - 1) / channels * part;
  if (algorithm == Algo::kNvls) {
    return inside;
  }
  return std::min({inside, inputs.across * (inputs.hosts <= 2 ? 2 : 1),
                   channels * inputs.tuning.nvls_tree[inputs.nodes_index]});
}

/// Returns the rate in NCCL's model, in GB/s, at which the payload (not the bytes on the wire)
/// moves.
double payload_gb_per_s(const ModelInputs& inputs, Algo algorithm, Proto protocol) {
  const double of_steps = inputs.ranks / inputs.steps();
  switch (algorithm) {
    case Algo::kRing:
      return ring_gb_per_s(inputs, protocol) * of_steps;
    case Algo::kTree:
      return tree_gb_per_s(inputs, protocol) / 2;
    case Algo::kNvls:
    case Algo::kNvlsTree:
      return nvls_gb_per_s(inputs, algorithm) * (inputs.all_reduce() ? of_steps : 1);
    case Algo::kCollNetDirect:
      return inputs.bus() / 2 * (inputs.tuning.nvls_share > 0 ? 0.85 : 1);
    case Algo::kCollNetChain:
      return inputs.bus() / 2;
  }
  return inputs.bus();
}

/// Whether NCCL can use this algorithm and protocol for the call on these links.
bool is_used(const ModelInputs& inputs, Algo algorithm, Proto protocol, bool collnet) {
  const bool simple = protocol == Proto::kSimple;
  const bool nvls = inputs.tuning.nvlink && inputs.tuning.nvls_share > 0 && inputs.local > 2;
  switch (algorithm) {
    case Algo::kRing:
      return protocol != Proto::kLl128 || inputs.tuning.ll128;
    case Algo::kTree:
      return inputs.all_reduce() && (protocol != Proto::kLl128 || inputs.tuning.ll128);
    case Algo::kNvls:
      return nvls && simple && inputs.one_host() && inputs.call.pattern != Pattern::kBroadcast;
    case Algo::kNvlsTree:
      return nvls && simple && !inputs.one_host() && inputs.all_reduce();
    case Algo::kCollNetDirect:
      return collnet && simple && !inputs.one_host() && inputs.all_reduce() && inputs.tuning.nvlink;
    case Algo::kCollNetChain:
      return collnet && simple && !inputs.one_host() && inputs.all_reduce();
  }
  return false;
}

/// Returns the bytes that NVLS processes as one chunk, which depend on the size of the call.
double nvls_chunk(const ModelInputs& inputs) {
  const double together = nvls_channels(inputs) * inputs.local;
  double chunk = 131072;
  struct Step {
    double chunks, chunk;
  };
  for (const Step step : {Step{64, 65536}, {8, 32768}, {2, 16384}}) {
    if (inputs.bytes() < step.chunks * together * chunk && chunk > step.chunk) {
      chunk = step.chunk;
    }
  }
  return together * chunk;
}

TransferCost make_cost(double us, double bytes, double seconds) {
  return {.latency = plan::picoseconds_of(us * 1e-6),
          .bytes = std::llround(bytes),
          .network_weight = 0,
          .limit_bytes_per_s = limit_bytes_per_s_of(seconds, bytes)};
}

/// Returns the expected cost of NVLS.  Each member sends the parts that others sum and receives its
/// own part: (L+1)/L S in each direction for an all-reduce, at the rate that NVLS achieves on
/// NVLink.  Between hosts a tree carries 2(H-1)/H S.  The second half follows the first by one
/// chunk.
TransferCost nvls_cost(const ModelInputs& inputs, double us) {
  const double carried =
      inputs.bytes() * (inputs.all_reduce() ? (inputs.local + 1) / inputs.local : 1);
  const double rate = inputs.inside * inputs.tuning.nvls_share * kGiga;
  const double leaving =
      inputs.one_host() ? 0 : inputs.bytes() * 2 * (inputs.hosts - 1) / inputs.hosts;
  const double seconds = std::max(carried / rate, leaving / (inputs.across * kGiga));
  const double behind = inputs.bytes() > 0 && inputs.all_reduce()
                            ? std::min(1.0, nvls_chunk(inputs) / inputs.bytes()) * seconds
                            : 0;
  TransferCost cost = make_cost(us + behind * 1e6, carried, seconds);
  cost.network_weight = fixed_point_weight(std::llround(leaving), std::llround(carried));
  return cost;
}

TransferCost expected(const ModelInputs& inputs, Algo algorithm, Proto protocol) {
  const double us = latency_us(inputs, algorithm, protocol);
  if (algorithm == Algo::kNvls || algorithm == Algo::kNvlsTree) {
    return nvls_cost(inputs, us);
  }
  const CollectiveCall& call = inputs.call;
  TransferCost cost = make_cost(
      us, static_cast<double>(plan::wire_bytes(call.pattern, call.bytes, call.group.ranks)),
      inputs.bytes() / (payload_gb_per_s(inputs, algorithm, protocol) * kGiga));
  const bool summed = algorithm == Algo::kCollNetDirect || algorithm == Algo::kCollNetChain;
  if (summed) {  // by the switches: each host sends its data once
    cost.network_weight = fixed_point_weight(call.bytes, cost.bytes);
  } else if (!inputs.one_host()) {
    cost.network_weight = kWeightOne;
  }
  return cost;
}

}  // namespace

/// For each algorithm and protocol
///
///   t = latency + S / rate
///
/// with the constants of data/nccl_tuning.toml, P ranks on H hosts, L a host:
///
///   ring    base + hops, 2(P-1) of an all-reduce, of which 2(H-1) cross the
///           network, and half as many of the others; rate * P / steps
///   tree    base + 2 ((L-1) device hops + log2 H network hops); rate / 2
///   NVLS    one hop of a switch that sums; with trees between hosts
/// CollNet switches of the network sum; only if it is requested
///
/// The pair with the smallest time is chosen, as NCCL chooses.  NCCL does not know of a
/// calibration, so calibrated constants apply only to the expected time of the chosen pair.  For
/// NVLS, this time serves the choice only; nvls_cost() computes the expected time.  For the choice
/// NCCL counts one hop of a ring's broadcast; the expected time has all P-1 hops, because the ring
/// passes the data from rank to rank.
/// NVIDIA/nccl v2.30.7, src/graph/tuning.cc, ncclTopoGetAlgoTime.
NcclChoice nccl_choice(const CollectiveCall& call, const Machine& machine) {
  const ModelInputs inputs = model_inputs_of(call, machine, true);
  const bool collnet = machine.algorithm == Algorithm::kNcclCollNet;
  std::optional<NcclChoice> best;
  for (const Algo algorithm : kNcclAlgorithms) {
    for (const Proto protocol : kNcclProtocols) {
      if (!is_used(inputs, algorithm, protocol, collnet)) {
        continue;
      }
      const double us = latency_us(inputs, algorithm, protocol) +
                        inputs.bytes() / (1e3 * payload_gb_per_s(inputs, algorithm, protocol));
      if (!best || us < best->model_us) {
        best = {.algorithm = algorithm, .protocol = protocol, .model_us = us};
      }
    }
  }
  best->cost = expected(model_inputs_of(call, machine, false), best->algorithm, best->protocol);
  return *best;
}

bool launch_is_calibrated(bool several_hosts, const Machine& machine) {
  const bool nccl =
      uses_nccl_model(machine.algorithm) ||
      (machine.algorithm == Algorithm::kMeasured && uses_nccl_model(machine.fallback_algorithm));
  const NcclTuning& tuning = tuning_of(machine);
  const NcclLink& link = several_hosts ? tuning.expected_network() : tuning.expected_device();
  return nccl && link.extra_base_us.has_value();
}

/// A message takes one hop.  NCCL uses LL, at half of the achieved rate, for up to 16 KiB, and
/// Simple for larger messages.
TransferCost nccl_message_cost(std::int64_t bytes, bool remote, const Machine& machine) {
  constexpr std::int64_t kMostOfLl = 16384;
  const NcclTuning& tuning = tuning_of(machine);
  const bool ll = bytes <= kMostOfLl;
  const Proto protocol = ll ? Proto::kLl : Proto::kSimple;
  const NcclLink& link = remote ? tuning.expected_network() : tuning.expected_device();
  const LinkModel& line = remote ? machine.network : machine.device;
  const double hop = std::max(
      0.0, of(remote ? tuning.network_hop_us : tuning.device_hop_us, Algo::kRing, protocol) +
               link.extra_us);
  const double rate = (ll ? 0.5 : 1) * link.share * static_cast<double>(line.bytes_per_s);
  const auto payload = static_cast<double>(bytes);
  TransferCost cost =
      make_cost(base_us(tuning, link, Algo::kRing, protocol) + hop, payload, payload / rate);
  cost.network_weight = remote ? kWeightOne : 0;
  return cost;
}

}  // namespace paceline::cluster
