// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "paceline/cluster/shared_link.h"
#include "paceline/plan/profile.h"
#include "paceline/strategies/plan_words.h"

namespace paceline::strategies {

/// Transfers of one communicator, of which the engine carries several at once.
///
/// They begin in the order in which they are added, each when it is ready and fewer than `most` are
/// carried (0: no limit).  Each waits for its start-up; those that flow have equal shares of the
/// wire.  Times are rounded to the nearest picosecond.
class ConcurrentTransfers {
 public:
  explicit ConcurrentTransfers(std::int32_t most);

  /// Ready no earlier than the one before; `flow`: alone on the wire.
  void add(Picoseconds ready, Picoseconds start, Picoseconds flow);

  /// When a transfer next begins to flow or ends; the end of time for none.
  Picoseconds next_time() const;

  /// Goes on to `time`, which next_time() must not precede.
  void advance(Picoseconds time);

  /// The ends of all transfers, in the order in which these were added.  Runs until all transfers
  /// have ended.
  const std::vector<Picoseconds>& ends();

  /// The transfers that have ended, in the order of their ends.
  const std::vector<std::size_t>& ended() const { return ended_; }

 private:
  cluster::SharedLink link_;
  cluster::SharedLink::Lane lane_;
  std::vector<Picoseconds> ends_;
  std::vector<std::size_t> ended_;
};

}  // namespace paceline::strategies
