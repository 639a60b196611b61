// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include <sched.h>

#include "paceline/engines/world.h"
#include "paceline/launch/key_value_store.h"
#include "paceline/records/run_record.h"

namespace paceline::rank {

/// The cores that the ranks of one host may use.
struct HostCores {
  int usable = 1;  // cores that all these ranks may use together, CPU quota included
  /// Whether the launcher (mpirun, srun) gave each rank its own cores, so that no two ranks share a
  /// core.
  bool apart = false;
};

/// Returns the cores of this host.  Collective over the world: a launcher may bind each rank to a
/// part of the host, so every rank sets its affinity mask in the store and reads those of its host.
/// Must be called before any rank is pinned.
HostCores host_cores(const engines::World& world, launch::PrefixStore& store);

/// What the ranks of some cases need of the cores of their host.
struct CoreDemand {
  int threads = 1;         // the largest number of threads that a rank uses
  std::string unpinned{};  // why no rank may be pinned; empty if they may
};

/// Returns the demand of the cases.  No rank may be pinned if a case runs on a GPU (its host
/// threads need room) or if its command starts ranks itself (they need all cores).
CoreDemand core_demand_of(std::span<const cases::Case> cases);

/// Pins this rank to its own cores until destruction.  Local rank r of this host gets the r-th
/// group of `demand.threads` cores that the process may use, so a case of one rank has as many
/// cores as a rank of the largest world.  Threads and commands that are started meanwhile inherit
/// the affinity.  Nothing is pinned if the demand forbids it, if there are too few cores for all
/// local ranks, or if the launcher has already given the ranks disjoint cores (`apart`).
class CorePin {
 public:
  CorePin(int local_rank, int local_world, const CoreDemand& demand, bool apart = false);
  ~CorePin();
  CorePin(const CorePin&) = delete;
  CorePin& operator=(const CorePin&) = delete;

  /// Returns the placement for the record: "each rank on 1 core of its own", or why nothing is
  /// pinned.
  const std::string& description() const { return description_; }

 private:
  cpu_set_t before_{};
  bool pinned_ = false;
  std::string description_;
};

}  // namespace paceline::rank
