// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "paceline/simulator/simulate.h"

namespace paceline::predict {

/// What no execution of a plan can beat on these links with this algorithm of collectives: another
/// one may move fewer bytes over the slower link.
struct Bound {
  plan::Picoseconds compute = 0;  // model work of the slowest simulated rank
  plan::Picoseconds wire = 0;     // the busiest link's bytes of one step at its rate
  plan::Picoseconds step = 0;     // of these two
  plan::Picoseconds overlap = 0;  // sharper: never below `step`
  bool crosses_step = false;      // communication may run under the next step
  std::optional<cluster::Algorithm> algorithm{};  // empty: no collective of several
};

/// Where all communication of a step must end before the next one's first Forward, and waits for
/// gradients, the wire starts with the first of these:
///
///   max(compute, forward + first gradient + wire)
///
/// elsewhere max(compute, wire).  Latencies, software costs, kernels and what compute and
/// communication take from each other are left out.
///
/// Where communication crosses the step, the sharper bound, `overlap`, knows besides when each
/// gradient is ready and which module's next forward waits for it; simulator/overlap_bound.h has
/// its formula.  Elsewhere it is the same.
Bound bound_of(const simulator::Job& job, const simulator::Costs& costs);

}  // namespace paceline::predict
