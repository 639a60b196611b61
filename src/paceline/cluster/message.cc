// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>

#include "paceline/cluster/collective_model.h"
#include "paceline/plan/wire_bytes.h"

namespace paceline::cluster {

const cluster::LinkFit* message_fit(bool remote, const Machine& machine) {
  constexpr int kPair = 2;
  const cluster::LinkFit* best = nullptr;
  for (const cluster::LinkFit& fit : remote ? machine.fits : machine.device_fits) {
    if (fit.operation == plan::kMessageOperation &&
        (best == nullptr || std::abs(fit.ranks - kPair) < std::abs(best->ranks - kPair))) {
      best = &fit;
    }
  }
  return best;
}

namespace {

/// t = latency + S / rate of the card, which all messages share.  If messages were measured, the
/// latency is alpha, by pieces of S, and one flow gets at most 1 / beta: a single connection, such
/// as a TCP flow, may be slower than the card.  Hockney, Parallel Computing 1994,
/// doi:10.1016/S0167-8191(06)80021-9.
TransferCost full_cost(std::int64_t bytes, bool remote, const Machine& machine) {
  const cluster::LinkFit* fit = message_fit(remote, machine);
  if (fit == nullptr && uses_nccl_model(machine.algorithm)) {
    return nccl_message_cost(bytes, remote, machine);
  }
  TransferCost cost{.latency = remote ? machine.network.latency : machine.device.latency,
                    .bytes = bytes,
                    .network_weight = remote ? kWeightOne : 0};
  if (fit != nullptr) {
    const plan::AlphaBetaPiece& piece = piece_of(*fit, bytes);
    cost.latency = piece.alpha;
    const auto flow = static_cast<double>(bytes);
    cost.limit_bytes_per_s = limit_bytes_per_s_of(piece.beta_ps_per_byte * 1e-12 * flow, flow);
  }
  return cost;
}

}  // namespace

TransferCost message_cost(std::int64_t bytes, bool remote, const Machine& machine) {
  const TransferCost cost = full_cost(bytes, remote, machine);
  return machine.link_rates_only ? without_latency_and_limit(cost) : cost;
}

}  // namespace paceline::cluster
