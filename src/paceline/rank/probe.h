// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "paceline/plan/plan_input.h"
#include "paceline/rank/case_run.h"

namespace paceline::rank {

/// The cost of a case for one rank that is alone on its host.
struct Probe {
  double setup_s = 0;
  double first_step_s = 0;        // cold: memory is touched, kernels are chosen
  double step_s = 0;              // a later one; the first where that took long
  std::int64_t memory_bytes = 0;  // the peak; where it does not fit, up to there
  std::int64_t state_bytes = 0;   // parameters, gradients, optimizer state
  bool fits = true;               // false: memory ran out
  plan::ModelShape shape{};       // of the network; empty where it did not fit
};

/// One or two steps of the case's network on this rank, rank 0, alone.
Probe probe_case(const engines::World& world, records::Configuration configuration,
                 const CaseOptions& options);

}  // namespace paceline::rank
