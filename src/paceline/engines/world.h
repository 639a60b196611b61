// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "paceline/launch/detect_launch.h"
#include "paceline/launch/key_value_store.h"
#include "paceline/launch/local_processes.h"

namespace paceline::engines {

struct C10dStore;  // engines/c10d_store.h

/// A joined world: this rank, and the store that all ranks share.
struct World {
  launch::RankInfo self;
  std::vector<std::string> hosts;                // by rank
  std::shared_ptr<C10dStore> c10d;               // where engines connect
  std::shared_ptr<launch::KeyValueStore> store;  // its short texts
  bool serves_store = false;                     // this rank holds the store
  bool rank_0_serves_store = false;              // it dies with rank 0
  /// Null where a parent supervises the ranks, which knows itself.
  std::shared_ptr<launch::LocalProcesses> processes;
};

/// Meets the other ranks: collective over the world.  Rank 0 gathers all host names and hands them
/// out; local ranks follow from them where the launcher gave none.  A world of one opens no
/// connection.  Throws UsageError for a port that is taken, WorldError that names the ranks that
/// did not join within
/// `timeout`, launch::StopRequested where this rank is asked to stop meanwhile.
World join(const launch::Launch& launch, std::chrono::milliseconds timeout);

/// Announces that this rank leaves.  The rank that serves the store stays until all ranks have
/// left, or `timeout` is over, because they need the store until then.
void leave(const World& world, std::chrono::milliseconds timeout);

/// Whether all hosts are the same.
bool on_one_host(std::span<const std::string> hosts);

}  // namespace paceline::engines
