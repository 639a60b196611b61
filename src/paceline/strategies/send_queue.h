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
  std::int32_t priority = 0;  // smaller first; among equals the earlier piece
  std::int64_t bytes = 0;
};

/// The order in which a priority queue with credit starts its pieces, in virtual time.
///
/// A ready piece waits in the queue; the foremost one starts while the bytes that have started and
/// not ended are below the credit, so the last may
/// exceed it.  What has started crosses as `time` says: one after the other, or side by side.
/// Peng et al. (ByteScheduler), SOSP 2019, doi:10.1145/3341301.3359642.
std::vector<std::size_t> starting_order(const std::vector<QueuedPiece>& pieces,
                                        std::int64_t credit_bytes, const TransferTime& time);

/// When each piece has crossed if they start in `order`, none before those that stand before it,
/// each when it is ready and the credit allows.
std::vector<Picoseconds> ends_in_order(const std::vector<QueuedPiece>& pieces,
                                       const std::vector<std::size_t>& order,
                                       std::int64_t credit_bytes, const TransferTime& time);

}  // namespace paceline::strategies
