// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "paceline/simulator/simulate.h"

namespace paceline::simulator {

/// The bytes of a parameter that cross a link between the parameter's gradient and the forward of
/// the next step that reads the parameter.
struct OverlapBytes {
  plan::Picoseconds from = 0;  // compute time from a step's begin to the gradient
  /// The compute time from the next step's begin to that forward.
  plan::Picoseconds until = 0;
  std::int64_t bytes = 0;
};

/// The bytes of all parameters on one link.
struct OverlapLink {
  std::int64_t bytes_per_s = 1;
  std::vector<OverlapBytes> bytes;
};

/// The shortest step that gives all bytes time to cross:
///
///   max over r, u of  r - u + bytes of those with from >= r, until <= u / rate
///
/// Here r and u are compute times within a step.  Bytes that are ready at r or later and needed at
/// u or earlier can cross only between time r of one step and time u of the next.  That interval
/// has the length of the step less r - u of compute.  The result is 0 without bytes.
plan::Picoseconds overlap_bound(OverlapLink link);

/// The busiest of the job's links, from the view of the first rank that trains.
///
/// The bytes of a collective or message are divided among the parameters of its gradients in
/// proportion to their sizes, however it is merged or cut, so that schedules of equal bytes give
/// equal bounds.  Communication that depends on no gradient, or that no forward of the next step
/// waits for, is left out.  Empty for a job whose steps differ.  `simulator` must be made for `job`
/// and have `costs`.
OverlapLink overlap_link(const Job& job, const Costs& costs, const Simulator& simulator);

/// The bound of a job whose communication crosses the step; `step` is the bound of compute and
/// wire.
plan::Picoseconds overlap_bound_of(const Job& job, const Costs& costs, plan::Picoseconds step);

}  // namespace paceline::simulator
