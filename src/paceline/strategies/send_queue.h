// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "paceline/plan/profile.h"
#include "paceline/strategies/plan_words.h"
#include "paceline/strategies/transfer_time.h"

namespace paceline::strategies {

/// A piece of a gradient that waits to be sent.
struct QueuedPiece {
  Picoseconds ready = 0;
  std::int32_t priority = 0;  // smaller goes first; on a tie the earlier piece does
  std::int64_t bytes = 0;
};

/// Returns the order in which a priority queue with credit starts its pieces, in virtual time.
///
/// A ready piece waits in the queue.  The first piece of the queue starts while the bytes that have
/// started and not ended are below the credit, so the last piece started may exceed the credit.
/// `time` gives the transfer time of a started piece, and says whether pieces are transferred one
/// after the other or at once.  Peng
/// et al. (ByteScheduler), SOSP 2019, doi:10.1145/3341301.3359642.
std::vector<std::size_t> starting_order(const std::vector<QueuedPiece>& pieces,
                                        std::int64_t credit_bytes, const TransferTime& time);

/// The end of the transfer of each piece if the pieces start in `order`: no piece starts before
/// those that precede it in `order`, and each starts when it is ready and the credit allows.
std::vector<Picoseconds> ends_in_order(const std::vector<QueuedPiece>& pieces,
                                       const std::vector<std::size_t>& order,
                                       std::int64_t credit_bytes, const TransferTime& time);

}  // namespace paceline::strategies
