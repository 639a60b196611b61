// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include <sched.h>

#include "paceline/records/run_record.h"

namespace paceline::measure {

/// Threads of a rank on the CPU; so many that nothing is pinned where a case
/// runs on a GPU, whose host threads need room, or its command starts ranks
/// itself, which need the cores of all.
int threads_to_pin(std::span<const records::Configuration> cases);

/// Pins this rank to its own cores until destruction.  Local rank r of this
/// host gets the r-th `threads` of the cores that the process may use, so that
/// a case of one rank has as many cores as a rank of the largest world. Threads
/// and commands that are started meanwhile inherit the affinity.  Nothing is
/// pinned where there are too few cores for all local ranks, and where the
/// launcher has already given the ranks disjoint cores (`apart`).
class CorePin {
 public:
  CorePin(int local_rank, int local_world, int threads, bool apart = false);
  ~CorePin();
  CorePin(const CorePin&) = delete;
  CorePin& operator=(const CorePin&) = delete;

  /// "each rank on 1 core of its own", or why not; for the record.
  const std::string& description() const { return description_; }

 private:
  cpu_set_t before_{};
  bool pinned_ = false;
  std::string description_;
};

}  // namespace paceline::measure
