// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "paceline/launch/board.h"
#include "paceline/launch/place.h"

namespace paceline::engines {

struct JobStore;  // engines/job_store.h

using launch::Place;

/// A joined world: the place and the store that all ranks share.
struct World {
  Place place;
  std::shared_ptr<JobStore> store;       // where engines connect
  std::vector<std::string> hosts;        // by rank
  std::shared_ptr<launch::Board> board;  // the same store, for short texts
  bool serves_store = false;             // this rank holds the store
  bool store_is_rank_0s = false;         // and it dies with that rank
};

/// Meets the other ranks: collective over the world.  Rank 0 gathers all host
/// names and hands them out; local ranks follow from them where the launcher
/// gave none.  A world of one needs nobody and opens nothing.  Throws
/// UsageError for a port that is taken, WorldError that names who did not come
/// within `timeout`.
World join(const launch::Launch& launch, std::chrono::milliseconds timeout);

/// How many ranks each host has, in rank order: {2, 1} of a, a, b.
std::vector<int> ranks_per_host(std::span<const std::string> hosts);

/// Says goodbye.  The rank that serves the store stays until all ranks have
/// left, or `patience` is over, because their last words need the store.
void leave(const World& world, std::chrono::milliseconds patience);

}  // namespace paceline::engines
