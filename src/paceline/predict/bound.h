// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "paceline/simulator/simulate.h"

namespace paceline::predict {

/// A lower bound on the step of any execution of a plan, on these links and with this algorithm of
/// collectives.  Another algorithm may move fewer bytes over the slower link.
struct Bound {
  plan::Picoseconds compute = 0;  // time of the model work on the slowest simulated rank
  plan::Picoseconds wire = 0;  // time of one step's bytes on the busiest link, at the link's rate
  plan::Picoseconds step = 0;  // lower bound of the step that follows from these two times
  bool crosses_step = false;   // whether communication may overlap with the next step
  /// Empty: the plan has no collective of several ranks.
  std::optional<cluster::Algorithm> algorithm{};
};

/// If all communication of a step must end before the first Forward of the next step, and waits for
/// gradients, the wire starts with the first gradient, and the bound is
///
///   max(compute, forward + first gradient + wire)
///
/// Otherwise the bound is max(compute, wire).  The bound leaves out latencies, software costs,
/// kernels, and the slow-down of compute and communication by each other.
Bound bound_of(const simulator::Job& job, const simulator::Costs& costs);

}  // namespace paceline::predict
