// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "paceline/comm/world.h"
#include "paceline/record/configuration.h"
#include "paceline/train/trainer.h"

namespace paceline::bench {

/// This rank's device under `configuration`: cpu, or the CUDA device of the
/// local rank modulo the visible ones.
at::Device device_of(const comm::World& world,
                     const record::Configuration& configuration);

/// Sets threads, and names the ranks that run the case together; `name` is new
/// in the job.
train::Team make_team(const comm::World& world,
                      const record::Configuration& configuration,
                      comm::Engine& engine,
                      const std::string& name,
                      const std::string& interface);

}  // namespace paceline::bench
