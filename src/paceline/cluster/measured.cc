// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <utility>
#include <vector>

#include "paceline/base/error.h"
#include "paceline/cluster/collective_model.h"
#include "paceline/plan/int128.h"
#include "paceline/plan/wire_bytes.h"

namespace paceline::cluster {

namespace {

/// Returns the fit of the call's operation with the number of ranks nearest to the call's, at least
/// `least` and at most `most`; null if there is none.  Among fits of equally near numbers of ranks,
/// the order of preference is: the same number of hosts, an unknown number, another number.
const LinkFit* nearest_fit(const CollectiveCall& call, const std::vector<LinkFit>& fits,
                           plan::Rank least, plan::Rank most) {
  const LinkFit* best = nullptr;
  const auto distance = [&](const LinkFit& fit) {
    const bool silent = fit.ranks_per_host.empty();
    const bool as_many = std::ssize(fit.ranks_per_host) == std::int64_t{call.group.hosts};
    return std::pair(std::abs(fit.ranks - call.group.ranks), as_many ? 0 : silent ? 1 : 2);
  };
  for (const LinkFit& fit : fits) {
    const bool allowed =
        fit.operation == plan::name_of(call.pattern) && fit.ranks >= least && fit.ranks <= most;
    if (allowed && (best == nullptr || distance(fit) < distance(*best))) {
      best = &fit;
    }
  }
  return best;
}

constexpr plan::Rank kAnyRanks = std::numeric_limits<plan::Rank>::max();

const std::vector<LinkFit>& fits_of(const Group& group, const Machine& machine) {
  return group.hosts > 1 ? machine.fits : machine.device_fits;
}

}  // namespace

const cluster::LinkFit* measured_fit(const CollectiveCall& call, const Machine& machine) {
  return machine.algorithm == Algorithm::kMeasured
             ? nearest_fit(call, fits_of(call.group, machine), 0, kAnyRanks)
             : nullptr;
}

const plan::AlphaBetaPiece& piece_of(const cluster::LinkFit& fit, std::int64_t bytes) {
  const auto& pieces = fit.line.pieces;
  PACELINE_CHECK(!pieces.empty());
  const auto above =
      std::ranges::find_if(pieces, [&](const auto& it) { return bytes < it.from_bytes; });
  return above == pieces.begin() ? *above : *(above - 1);
}

std::int64_t limit_bytes_per_s_of(double seconds, double flow) {
  constexpr double kUnlimited = 1e15;  // bytes/s, above every link's rate
  const double rate = flow / seconds;
  return seconds > 0 && rate < kUnlimited ? std::max<std::int64_t>(1, std::llround(rate))
                                          : std::numeric_limits<std::int64_t>::max();
}

namespace {

Machine without_fits(const Machine& machine) {
  Machine model;
  model.device = machine.device;
  model.network = machine.network;
  model.algorithm = machine.fallback_algorithm;
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
            .ranks_on_fullest_host = std::ranges::max(counts)};
  }
  const plan::Rank hosts =
      std::clamp<plan::Rank>((fit.ranks + group.ranks_on_fullest_host - 1) /
                                 std::max<plan::Rank>(1, group.ranks_on_fullest_host),
                             1, fit.ranks);
  return {.ranks = fit.ranks,
          .hosts = group.hosts > 1 ? std::max<plan::Rank>(2, hosts) : 1,
          .ranks_on_fullest_host = std::min(group.ranks_on_fullest_host, fit.ranks)};
}

/// Returns the ratio of the call's time to the time of `bytes` bytes among the ranks of the fit.
/// Both times are those of the model that predicts collectives without a fit.
double model_ratio(const CollectiveCall& call, const LinkFit& fit, std::int64_t bytes,
                   const Machine& machine) {
  if (fit.ranks == call.group.ranks && bytes == call.bytes) {
    return 1;
  }
  const Machine model = without_fits(machine);
  const auto time = [&](std::int64_t size, const Group& group) {
    const CollectiveCall asked{call.pattern, size, group};
    return static_cast<double>(alone(collective_cost(asked, model), group, model));
  };
  const Group& group = fit.ranks == call.group.ranks ? call.group : measured_group(fit, call.group);
  const double measured = time(bytes, group);
  return measured > 0 ? time(call.bytes, call.group) / measured : 1;
}

/// The two terms of the time t = alpha + beta S, in picoseconds.
struct Terms {
  double start = 0, transfer = 0;
};

/// Returns the call's time by one fit. Other numbers of ranks and other sizes than measured are
/// scaled by the ratio of the model's times.
Terms terms_of(const CollectiveCall& call, const LinkFit& fit, const Machine& machine) {
  const std::int64_t bytes = std::clamp(call.bytes, fit.from_bytes, fit.to_bytes);
  const plan::AlphaBetaPiece& piece = piece_of(fit, bytes);
  const double ratio = model_ratio(call, fit, bytes, machine);
  return {.start = ratio * static_cast<double>(piece.alpha),
          .transfer = ratio * piece.beta_ps_per_byte * static_cast<double>(bytes)};
}

/// Returns the call's time by the fits of the nearest numbers of ranks below and above it, linear
/// in the logarithm of the ranks, or by the nearest fit if all are on one side.
Terms measured_terms(const CollectiveCall& call, const LinkFit& nearest, const Machine& machine) {
  const plan::Rank ranks = call.group.ranks;
  const std::vector<LinkFit>& fits = fits_of(call.group, machine);
  const LinkFit* below = nearest_fit(call, fits, 0, ranks);
  const LinkFit* above = nearest_fit(call, fits, ranks, kAnyRanks);
  if (below == nullptr || above == nullptr || nearest.ranks == ranks) {
    return terms_of(call, nearest, machine);
  }
  const auto at = [&](const LinkFit& fit) {
    CollectiveCall there = call;
    there.group = measured_group(fit, call.group);
    return terms_of(there, fit, machine);
  };
  const Terms low = at(*below), high = at(*above);
  const double share = std::log2(static_cast<double>(ranks) / below->ranks) /
                       std::log2(static_cast<double>(above->ranks) / below->ranks);
  return {.start = std::lerp(low.start, high.start, share),
          .transfer = std::lerp(low.transfer, high.transfer, share)};
}

/// Returns the largest weight that a flow may have on a link and still reach `limit` bytes/s. The
/// link gives a flow of weight kWeightOne `rate` bytes/s. The weight is at most kWeightOne and a
/// multiple of `step`.
std::int64_t weight_at_limit(std::int64_t rate, std::int64_t limit, std::int64_t step) {
  const auto weight = std::min<plan::Int128>(kWeightOne, plan::Int128{kWeightOne} * rate / limit);
  return static_cast<std::int64_t>(weight) / step * step;
}

}  // namespace

/// t = alpha + beta S, in pieces by size, as measured on the cluster (`paceline comm --fit`,
/// `paceline calibrate`, or a published table).  Between two measured numbers of ranks the time is
/// linear in the logarithm of the ranks.  For other numbers of ranks P, and for sizes outside the
/// measured ones, of which F is the nearest
///
///   t(P, S) = t(fit, F) * model(P, S) / model(fit, F)
///
/// where model() is the model that predicts collectives without a fit.  beta limits the rate of the
/// flow, whose bytes are those of a ring, so that other traffic on the links slows it.  NVLS and
/// trees move fewer bytes than a ring, so the flow takes at most the capacity of a link that its
/// own rate needs: alone on the links, it takes the measured time.  Hockney, Parallel Computing
/// 1994, doi:10.1016/S0167-8191(06)80021-9.
TransferCost measured_cost(const CollectiveCall& call, const Machine& machine) {
  const cluster::LinkFit* fit = measured_fit(call, machine);
  if (fit == nullptr) {
    return *collective_cost(call, without_fits(machine));
  }
  const Terms terms = measured_terms(call, *fit, machine);
  TransferCost cost = ring_cost(call, machine);
  cost.latency = std::llround(terms.start);
  cost.limit_bytes_per_s =
      limit_bytes_per_s_of(terms.transfer * 1e-12, static_cast<double>(cost.bytes));
  if (cost.limit_bytes_per_s < std::numeric_limits<std::int64_t>::max()) {
    cost.device_weight =
        weight_at_limit(device_ring_bytes_per_s(call.group, machine), cost.limit_bytes_per_s, 1);
    if (cost.network_weight > 0) {
      cost.network_weight =
          weight_at_limit(network_ring_bytes_per_s(call.group, machine), cost.limit_bytes_per_s,
                          call.group.ranks_on_fullest_host);
    }
  }
  return cost;
}

}  // namespace paceline::cluster
