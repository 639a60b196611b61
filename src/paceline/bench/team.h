// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "paceline/bench/session.h"
#include "paceline/record/run_record.h"
#include "paceline/train/trainer.h"

namespace paceline::bench {

/// This rank's device under `configuration`: cpu, or the CUDA device of the
/// local rank modulo the visible ones.
at::Device device_of(const comm::World& world,
                     const record::Configuration& configuration);

/// Sets threads, and names the ranks that run the case together.
train::Team make_team(const comm::World& world,
                      const record::Configuration& configuration,
                      comm::Engine& engine,
                      const SessionOptions& options,
                      std::size_t case_index);

/// What a reader of the numbers must know: shared cores, failed checks, bytes
/// that differ from the plan's.
void add_warnings(const record::Configuration& configuration,
                  const record::Environment& environment,
                  record::RunRecord& record);

}  // namespace paceline::bench
