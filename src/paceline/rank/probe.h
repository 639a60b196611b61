// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "paceline/plan/plan_input.h"
#include "paceline/rank/case_run.h"

namespace paceline::rank {

/// The cost of a case's network on one rank that is alone on its host.
struct Probe {
  double setup_s = 0;
  double first_step_s = 0;        // cold: touches memory, chooses kernels
  double step_s = 0;              // of the second step; of the first if that took long
  std::int64_t memory_bytes = 0;  // the peak; up to the failure if it does not fit
  std::int64_t state_bytes = 0;   // parameters, gradients, optimizer state
  bool fits = true;               // false: memory ran out
  plan::ModelShape shape{};       // of the network; empty if it did not fit
};

/// Runs one or two steps of the case's network on this rank alone, which is rank 0.
Probe probe_case(const engines::World& world, cases::Case configuration,
                 const CaseOptions& options);

}  // namespace paceline::rank
