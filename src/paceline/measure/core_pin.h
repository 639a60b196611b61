// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <sched.h>

namespace paceline::measure {

/// Keeps this rank on cores of its own while it lives: local rank r of this
/// host gets `threads` of the cores that the process may use, in their order,
/// so that a one-rank case has no more room than a rank of the largest world.
/// Threads and commands that are started meanwhile inherit it.  Where the cores
/// do not suffice for all local ranks, nothing is pinned; nor where the
/// launcher has already set the ranks `apart`, on cores of their own.
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
