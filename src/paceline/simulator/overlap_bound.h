// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "paceline/simulator/simulate.h"

namespace paceline::simulator {

/// Bytes of a parameter that cross a link between its gradient and the next step's forward that
/// reads it.
struct OverlapBytes {
  plan::Picoseconds from = 0;  // compute from a step's begin to the gradient
  /// Compute from the next step's begin to its forward.
  plan::Picoseconds until = 0;
  std::int64_t bytes = 0;
};

/// The bytes of all parameters on one link.
struct OverlapLink {
  std::int64_t bytes_per_s = 1;
  std::vector<OverlapBytes> bytes;
};

/// The least step that leaves all bytes time to cross:
///
///   max over r, u of  r - u + bytes of those with from >= r, until <= u / rate
///
/// r and u are times of compute within a step.  Bytes that are ready at r or later and needed at u
/// or earlier can cross only between r of one step and u of the next.  That is the step less r - u
/// of compute.  0 for none.
plan::Picoseconds overlap_bound(OverlapLink link);

/// The busiest of the job's links, seen from the first rank that trains.
///
/// A collective or message whose gradients' parameters are waited for by the next forward is
/// divided among these by their sizes, however it is merged or cut, so that schedules of equal
/// bytes give equal bounds.  What waits for no gradient, or is not waited for, is left out.  None
/// for a job whose steps differ.  `simulator` is the job's and has `costs`.
OverlapLink overlap_link(const Job& job, const Costs& costs, const Simulator& simulator);

}  // namespace paceline::simulator
