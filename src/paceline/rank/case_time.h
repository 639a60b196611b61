// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "paceline/case/case.h"
#include "paceline/plan/plan_input.h"
#include "paceline/rank/probe.h"

// The time and the memory that a case takes, estimated from a probe or from what is known without
// a probe.

namespace paceline::rank {

/// Returns the least bytes that a rank of the case takes, by the network's shape: parameters,
/// gradients, optimizer state, and what convolutions keep for backward.  Returns 0 if the shape is
/// not known: networks that are not built in, embedding tables, replays, GPUs, external programs.
std::int64_t least_memory_of(const cases::Case& configuration);

/// Returns the seconds that the ranks of one host with `cores` cores take to draw the start values
/// of the embedding tables' rows.  Extrapolates from a short sample; 0 without tables.
double draw_seconds(const cases::Case& configuration, int cores);

/// Returns a duration as text: "70 s", "12 min", "3.5 h".
std::string duration_text(double seconds);

/// Returns the number of threads that share a core, at least 1; 1 for a replay, whose ranks sleep.
double crowd(const cases::Case& configuration, int ranks_here, double cores);

/// Returns whether the case also measures steps without communication, in turn with other steps.
bool measures_pairs(const cases::Case& configuration);

/// The outcome of planning a case before it is run.
struct Planned {
  std::string rejection;           // why there is no plan; empty: there is one
  std::int64_t written_bytes = 0;  // bytes that a replay writes on its fullest rank
  std::int64_t wire_bytes = 0;     // bytes that a rank sends in a step
};

/// Plans the case, or says why it has no plan.  A case is not rejected here if an external command
/// performs it, or if its plan needs times that are measured when the case begins.
Planned plan_case(const cases::Case& configuration, const plan::ModelShape& shape);

/// Returns the seconds that the case takes.  `crowd` is the number of threads per core, by crowd().
double seconds_of(const cases::Case& configuration, const Probe& probe, const Planned& planned,
                  double crowd);

/// Returns a line that says how long `runs` runs of all cases take, as far as that is known without
/// a probe.  It is known for replays, by the times of their profiles.
std::string known_time_text(const std::vector<cases::Case>& cases, int runs);

}  // namespace paceline::rank
