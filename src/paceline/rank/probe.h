// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "paceline/plan/plan_input.h"
#include "paceline/rank/case_run.h"

namespace paceline::rank {

/// The measured time and memory of a case's network on one rank that is alone on its host.
struct Probe {
  double preparation_s = 0;
  /// The cold step, in which memory is first touched and kernels are chosen.
  double first_step_s = 0;
  double step_s = 0;              // time of the second step, or of the first if that took long
  std::int64_t memory_bytes = 0;  // peak memory; if the network does not fit, up to the failure
  std::int64_t state_bytes = 0;   // memory of parameters, gradients and optimizer state
  bool fits = true;               // false: memory ran out
  std::string rejection{};        // why the network cannot be built; empty if it can
  plan::ModelShape shape{};       // shape of the network; empty if it did not fit
};

/// Runs one or two steps of the case's network on this rank alone, which is rank 0.
Probe probe_case(const engines::World& world, cases::Case configuration,
                 const CaseOptions& options);

}  // namespace paceline::rank
