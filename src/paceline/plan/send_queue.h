// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "paceline/plan/profile.h"

namespace paceline::plan {

/// A piece of a gradient that waits to be sent.
struct Piece {
  Picoseconds ready = 0;
  std::int32_t priority = 0;  // smaller first; among equals the earlier piece
  std::int64_t bytes = 0;
};

/// The order in which a priority queue with credit starts its pieces, in
/// virtual time.
///
/// A ready piece waits in the queue; the foremost one starts while the bytes
/// that have started and not ended are below the credit, so the last may
/// exceed it.  What has started crosses one after the other, in `time` each.
/// Peng et al. (ByteScheduler), SOSP 2019, doi:10.1145/3341301.3359642.
std::vector<std::size_t> starting_order(
    const std::vector<Piece>& pieces,
    std::int64_t credit_bytes,
    const std::function<Picoseconds(std::int64_t)>& time);

}  // namespace paceline::plan
