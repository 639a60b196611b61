// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "paceline/sim/simulate.h"

namespace paceline::sim {

/// What no execution of a plan can beat on these links with this algorithm of
/// collectives: another one may move fewer bytes over the slower link.
struct Bound {
  Picoseconds compute = 0;  // model work of the slowest simulated rank
  Picoseconds wire = 0;     // the busiest link's bytes of one step at its rate
  Picoseconds step = 0;     // of these two
  Picoseconds gated = 0;    // sharper: never below `step`
  bool crosses_step = false;  // communication may run under the next step
  std::optional<Algorithm> algorithm{};  // empty: no collective of several
};

/// Where all communication of a step must end before the next one's first
/// Forward, and waits for gradients, the wire starts with the first of these:
///
///   max(compute, forward + first gradient + wire)
///
/// elsewhere max(compute, wire).  Latencies, software costs, kernels and what
/// compute and communication take from each other are left out.
///
/// Where communication crosses the step, the sharper bound, `gated`, knows
/// besides when each gradient is ready and which module's next forward waits
/// for it; sim/gates.h has its formula.  Elsewhere it is the same.
Bound bound_of(const Job& job, const Costs& costs);

}  // namespace paceline::sim
