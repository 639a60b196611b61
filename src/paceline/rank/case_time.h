// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "paceline/plan/plan_input.h"
#include "paceline/rank/probe.h"
#include "paceline/records/configuration.h"

// How long a case takes, from a probe or from what is known without one.

namespace paceline::rank {

/// "70 s", "12 min", "3.5 h"
std::string duration_text(double seconds);

/// The threads that share a core; 1 for a replay, whose ranks sleep.
double crowd(const records::Configuration& configuration, int ranks_here, double cores);

/// Whether steps without communication are measured in turn with the others.
bool measures_pairs(const records::Configuration& configuration);

/// A case's plan before it is run.
struct Planned {
  std::string rejection;           // why there is none; empty: there is one
  std::int64_t written_bytes = 0;  // of a replay, by its fullest rank
  std::int64_t wire_bytes = 0;     // that a rank sends in a step
};

/// Nothing is rejected where times make the plan that are measured when the case begins, and where
/// a command performs the case.
Planned plan_case(const records::Configuration& configuration, const plan::ModelShape& shape);

/// Seconds of the case, whose threads share cores as crowd() says.
double seconds_of(const records::Configuration& configuration, const Probe& probe,
                  const Planned& planned, double crowd);

/// What is known without a probe of how long a run of all cases takes, `runs` times, as a line:
/// replays have the times of their profiles.
std::string known_time_text(const std::vector<records::Configuration>& cases, int runs);

}  // namespace paceline::rank
