// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "paceline/sim/simulate.h"

namespace paceline::sim {

/// What no execution of a plan can beat on these links.
struct Bound {
  Picoseconds compute = 0;  // model work of the slowest simulated rank
  Picoseconds wire = 0;     // the busiest link's bytes of one step at its rate
  Picoseconds step = 0;
  bool crosses_step = false;  // communication may run under the next step
};

/// Where all communication of a step must end before the next one's first
/// Forward, the wire starts with the first gradient:
///
///   max(compute, forward + first gradient + wire)
///
/// elsewhere max(compute, wire).  Latencies, software costs, kernels and what
/// compute and communication take from each other are left out.
Bound bound_of(const Job& job, const Costs& costs);

}  // namespace paceline::sim
