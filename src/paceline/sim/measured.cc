// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <string_view>

#include "paceline/base/error.h"
#include "paceline/plan/wire_bytes.h"
#include "paceline/sim/collective_model.h"

namespace paceline::sim {
namespace {

/// The fit of the operation among the nearest number of ranks.
const plan::LinkFit* nearest(const Machine& machine,
                             std::string_view operation,
                             int ranks) {
  const plan::LinkFit* best = nullptr;
  for (const plan::LinkFit& fit : machine.fits) {
    if (fit.operation == operation &&
        (best == nullptr ||
         std::abs(fit.ranks - ranks) < std::abs(best->ranks - ranks))) {
      best = &fit;
    }
  }
  return best;
}

}  // namespace

/// t = alpha + beta S, by pieces of the size, as measured on the cluster
/// (`paceline comm --fit`, or a published table) among the nearest number of
/// ranks.  beta limits the flow, whose bytes are those of a ring, so that what
/// else is on the links slows it.  An operation without a fit is a ring.
/// Hockney, Parallel Computing 1994, doi:10.1016/S0167-8191(06)80021-9.
Price measured_price(const CollectiveCall& call, const Machine& machine) {
  const plan::LinkFit* fit =
      nearest(machine, plan::name_of(call.pattern), call.group.ranks);
  if (fit == nullptr) {
    return ring_price(call, machine);
  }
  const auto& pieces = fit->line.pieces;
  PACELINE_CHECK(!pieces.empty());
  auto piece = std::ranges::find_if(
      pieces, [&](const auto& it) { return call.bytes < it.from_bytes; });
  piece -= piece == pieces.begin() ? 0 : 1;
  Price price = ring_price(call, machine);
  Stage& stage = price.stages[0];
  stage.latency = piece->alpha;
  const double seconds =
      piece->beta_ps_per_byte * 1e-12 * static_cast<double>(call.bytes);
  if (seconds > 0) {
    stage.limit_bytes_per_s = std::max<std::int64_t>(
        1, std::llround(static_cast<double>(stage.bytes) / seconds));
  }
  return price;
}

}  // namespace paceline::sim
