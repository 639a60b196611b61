// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "paceline/cluster/shared_link.h"
#include "paceline/plan/profile.h"
#include "paceline/strategies/plan_words.h"

namespace paceline::strategies {

/// Simulates the transfers of one communicator on an engine that performs several of them at once.
///
/// Transfers begin in the order in which they are added, each when it is ready and fewer than
/// `most` transfers are in flight (0: no limit).  Each transfer first takes its start-up time;
/// after that, all transfers that have started up share the bandwidth equally.  Times are rounded
/// to the nearest picosecond.
class ConcurrentTransfers {
 public:
  explicit ConcurrentTransfers(std::int32_t most);

  /// Adds a transfer whose `ready` is not before that of the transfer added last.  `flow` is the
  /// time that its bytes take if no other transfer shares the bandwidth.
  void add(Picoseconds ready, Picoseconds start, Picoseconds flow);

  /// The next time at which a start-up or a transfer ends; the end of time if none is left.
  Picoseconds next_time() const;

  /// Advances the simulation to `time`, which must not be after next_time().
  void advance(Picoseconds time);

  /// Runs until all transfers have ended, and returns their ends in the order of add().
  const std::vector<Picoseconds>& ends();

  /// The indices of the transfers that have ended, in the order of their ends.
  const std::vector<std::size_t>& ended() const { return ended_; }

 private:
  cluster::SharedLink link_;
  cluster::SharedLink::Lane lane_;
  std::vector<Picoseconds> ends_;
  std::vector<std::size_t> ended_;
};

}  // namespace paceline::strategies
