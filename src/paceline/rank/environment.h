// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "paceline/engines/world.h"
#include "paceline/launch/key_value_store.h"
#include "paceline/records/run_record.h"

namespace paceline::rank {

/// Returns the versions of the program and its libraries, and facts about all hosts; equal on every
/// rank. Collective over the world. `usable_cores` is the number of this host's cores that its
/// ranks may use (rank/cores.h).
records::Environment exchange_environment(const engines::World& world, launch::PrefixStore& store,
                                          int usable_cores);

}  // namespace paceline::rank
