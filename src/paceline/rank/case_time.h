// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "paceline/case/case.h"
#include "paceline/plan/plan_input.h"
#include "paceline/rank/probe.h"

// Estimates of the time and the memory that a case needs, from a probe (a few steps on one rank) or
// from the network's shape and recorded profiles alone.

namespace paceline::rank {

/// Returns a lower bound of the memory in bytes that a rank of the case needs, from the network's
/// shape: parameters, gradients, optimizer state, and activations that convolutions keep for
/// backward.  Returns 0 if the shape is not known: networks that are not built in, embedding
/// tables, replays, GPUs, external programs.
std::int64_t least_memory_bytes(const cases::Case& configuration);

/// Returns the seconds that the ranks of one host with `cores` cores take to draw the start values
/// of the embedding tables' rows.  Extrapolates from a short sample; 0 without tables.
double table_draw_seconds(const cases::Case& configuration, int cores);

/// Returns a duration as text: "70 s", "12 min", "3.5 h".
std::string duration_text(double seconds);

/// Returns the number of compute threads per core of the host, at least 1.  It is 1 for a replay,
/// whose ranks sleep instead of computing.
double threads_per_core(const cases::Case& configuration, int ranks_here, double cores);

/// Returns whether the case also measures steps without communication, in turn with other steps.
bool measures_communication_overhead(const cases::Case& configuration);

/// What is known of a case once it is planned, before it is run.
struct PlannedCase {
  std::string rejection;           // why there is no plan; empty: there is one
  std::int64_t written_bytes = 0;  // bytes that a replay writes, on the rank that writes most
  std::int64_t wire_bytes = 0;     // bytes that one rank sends in a step
};

/// Plans the case, or says why it has no plan.  A case is not rejected here if an external command
/// performs it, or if its plan needs times that are measured when the case begins.
PlannedCase plan_case(const cases::Case& configuration, const plan::ModelShape& shape);

/// Returns the seconds that the case takes if `threads_per_core` threads share each core.
double seconds_of(const cases::Case& configuration, const Probe& probe, const PlannedCase& planned,
                  double threads_per_core);

/// Returns a line that says how long `runs` runs of the replayed cases take, by the times of their
/// profiles, and how many other cases have no estimate without a probe.
std::string replay_time_text(const std::vector<cases::Case>& cases, int runs);

}  // namespace paceline::rank
