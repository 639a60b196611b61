// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "paceline/case/case.h"
#include "paceline/engines/world.h"
#include "paceline/rank/trainer.h"

namespace paceline::rank {

/// Returns this rank's device under `configuration`: cpu, or the CUDA device whose index is the
/// local rank modulo the number of visible devices.
at::Device device_of(const engines::World& world, const cases::Case& configuration);

/// Connects ranks 0 .. members-1 of the group; `name` must be new in the group.  Collective.
std::unique_ptr<engines::Channel> connect(const RankGroup& group, const std::string& name,
                                          int members);

/// Returns the ranks that run the case together; `name` must be new in the job.  Also sets the
/// number of compute threads of this process and the calling thread's device.
RankGroup make_rank_group(const engines::World& world, const cases::Case& configuration,
                          engines::Engine& engine, const std::string& name,
                          const std::string& interface);

}  // namespace paceline::rank
