// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

#include "paceline/engines/world.h"
#include "paceline/launch/key_value_store.h"

namespace paceline::measure {

/// What the ranks of one host may run on.
struct HostCores {
  int usable = 1;      // cores of all of them together, quota included
  bool apart = false;  // no core is allowed to two ranks: their launcher
                       // (mpirun, srun) gave each its own
};

/// Collective over the world: every rank posts its affinity mask and reads
/// those of its host, because a launcher may bind each rank to a part of it.
/// To be called before any rank is pinned.  Throws WorldError after `patience`.
HostCores host_cores(const engines::World& world,
                     launch::PrefixStore& store,
                     std::chrono::milliseconds patience);

}  // namespace paceline::measure
