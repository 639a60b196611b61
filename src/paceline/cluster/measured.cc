// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <string_view>
#include <utility>

#include "paceline/base/error.h"
#include "paceline/cluster/collective_model.h"
#include "paceline/plan/wire_bytes.h"

namespace paceline::cluster {

const cluster::LinkFit* measured_fit(const CollectiveCall& call, const Machine& machine) {
  if (machine.algorithm != Algorithm::kMeasured) {
    return nullptr;
  }
  const cluster::LinkFit* best = nullptr;
  // Among fits of equally near numbers of ranks, the order of preference is: the same number of
  // hosts, an unknown number, another number.
  const auto distance = [&](const cluster::LinkFit& fit) {
    const bool silent = fit.ranks_per_host.empty();
    const bool as_many = std::ssize(fit.ranks_per_host) == std::int64_t{call.group.hosts};
    return std::pair(std::abs(fit.ranks - call.group.ranks), as_many ? 0 : silent ? 1 : 2);
  };
  const auto& fits = call.group.hosts > 1 ? machine.fits : machine.device_fits;
  for (const cluster::LinkFit& fit : fits) {
    if (fit.operation == plan::name_of(call.pattern) &&
        (best == nullptr || distance(fit) < distance(*best))) {
      best = &fit;
    }
  }
  return best;
}

const plan::AlphaBetaPiece& piece_of(const cluster::LinkFit& fit, std::int64_t bytes) {
  const auto& pieces = fit.line.pieces;
  PACELINE_CHECK(!pieces.empty());
  const auto above =
      std::ranges::find_if(pieces, [&](const auto& it) { return bytes < it.from_bytes; });
  return above == pieces.begin() ? *above : *(above - 1);
}

std::int64_t limit_bytes_per_s_of(const plan::AlphaBetaPiece& piece, std::int64_t bytes,
                                  std::int64_t flow) {
  const double seconds = piece.beta_ps_per_byte * 1e-12 * static_cast<double>(bytes);
  constexpr double kUnlimited = 1e15;  // bytes/s, above every link's rate
  const double rate = static_cast<double>(flow) / seconds;
  return seconds > 0 && rate < kUnlimited ? std::max<std::int64_t>(1, std::llround(rate))
                                          : std::numeric_limits<std::int64_t>::max();
}

namespace {

Machine without_fits(const Machine& machine) {
  Machine model;
  model.device = machine.device;
  model.network = machine.network;
  model.algorithm = machine.unmeasured;
  model.nccl = machine.nccl;
  return model;
}

/// Returns the group among which the fit was measured; if the fit has no placement, it is assumed
/// to have as many ranks per host as `group`.
Group measured_group(const LinkFit& fit, const Group& group) {
  const auto& counts = fit.ranks_per_host;
  if (!counts.empty()) {
    return {.ranks = fit.ranks,
            .hosts = static_cast<plan::Rank>(counts.size()),
            .most_local = std::ranges::max(counts)};
  }
  const plan::Rank hosts = std::clamp<plan::Rank>(
      (fit.ranks + group.most_local - 1) / std::max<plan::Rank>(1, group.most_local), 1, fit.ranks);
  return {.ranks = fit.ranks,
          .hosts = group.hosts > 1 ? std::max<plan::Rank>(2, hosts) : 1,
          .most_local = std::min(group.most_local, fit.ranks)};
}

/// Returns the ratio of the call's time to its time among the fit's ranks, both by the model that
/// predicts collectives without a fit.
double model_ratio(const CollectiveCall& call, const LinkFit& fit, const Machine& machine) {
  if (fit.ranks == call.group.ranks) {
    return 1;
  }
  const Machine model = without_fits(machine);
  const auto time = [&](const Group& group) {
    const CollectiveCall asked{call.pattern, call.bytes, group};
    return static_cast<double>(alone(staged_cost(asked, model), group, model));
  };
  const double measured = time(measured_group(fit, call.group));
  return measured > 0 ? time(call.group) / measured : 1;
}

}  // namespace

/// t = alpha + beta S, in pieces by size, as measured on the cluster (`paceline comm --fit`,
/// `paceline calibrate`, or a published table) among the nearest number of ranks.  For another
/// number of ranks P
///
///   t(P) = t(fit) * model(P) / model(fit)
///
/// where model() is the model that predicts collectives without a fit.  beta limits the rate of the
/// flow, whose bytes are those of a ring, so that other traffic on the links slows it.  Hockney,
/// Parallel Computing 1994, doi:10.1016/S0167-8191(06)80021-9.
StagedCost measured_cost(const CollectiveCall& call, const Machine& machine) {
  const cluster::LinkFit* fit = measured_fit(call, machine);
  if (fit == nullptr) {
    return staged_cost(call, without_fits(machine));
  }
  const plan::AlphaBetaPiece& piece = piece_of(*fit, call.bytes);
  const double ratio = model_ratio(call, *fit, machine);
  StagedCost staged_cost = ring_cost(call, machine);
  Stage& stage = staged_cost.stages[0];
  stage.latency = std::llround(static_cast<double>(piece.alpha) * ratio);
  const std::int64_t limit = limit_bytes_per_s_of(piece, call.bytes, stage.bytes);
  stage.limit_bytes_per_s =
      ratio == 1 || limit == std::numeric_limits<std::int64_t>::max()
          ? limit
          : std::max<std::int64_t>(1, std::llround(static_cast<double>(limit) / ratio));
  return staged_cost;
}

}  // namespace paceline::cluster
