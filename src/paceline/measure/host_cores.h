// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "paceline/engines/world.h"
#include "paceline/launch/key_value_store.h"

namespace paceline::measure {

/// The cores that the ranks of one host may use.
struct HostCores {
  int usable = 1;      // cores of all of them together, quota included
  bool apart = false;  // no core is allowed to two ranks, because the launcher
                       // (mpirun, srun) gave each rank its own
};

/// Collective over the world: every rank sets its affinity mask in the store
/// and reads those of its host, because a launcher may bind each rank to a part
/// of the host.  To be called before any rank is pinned.
HostCores host_cores(const engines::World& world, launch::PrefixStore& store);

}  // namespace paceline::measure
