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

/// A world that was joined: this rank, and the store that all ranks share.
struct World {
  launch::RankInfo self;
  std::vector<std::string> hosts;                // host names by rank
  std::shared_ptr<C10dStore> c10d;               // the store through which engines connect
  std::shared_ptr<launch::KeyValueStore> store;  // interface to the same store for short texts
  bool serves_store = false;                     // whether this rank holds the store
  bool rank_0_serves_store = false;              // whether the store dies with rank 0
  /// Null if a parent supervises the ranks, because the parent knows which processes have ended.
  std::shared_ptr<launch::LocalProcesses> processes;
};

/// Meets the other ranks; all ranks of the world must call it.  Rank 0 gathers all host names and
/// distributes them; if the launcher gave no local ranks, they follow from the host names.  A world
/// of one opens no connection.  Throws UsageError if a port is taken, WorldError that names the
/// ranks that did not join within `timeout`, and launch::StopRequested if this rank is asked to
/// stop meanwhile.
World join(const launch::Launch& launch, std::chrono::milliseconds timeout);

/// Announces that this rank leaves.  The rank that serves the store stays until all ranks have left
/// or `timeout` is over, because the others need the store until then.
void leave(const World& world, std::chrono::milliseconds timeout);

/// Whether all ranks are on one host, given the host name of each rank.
bool on_one_host(std::span<const std::string> hosts);

}  // namespace paceline::engines
