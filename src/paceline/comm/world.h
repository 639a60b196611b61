// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include <torch/csrc/distributed/c10d/Store.hpp>

#include "paceline/comm/engine.h"
#include "paceline/launch/board.h"
#include "paceline/launch/place.h"

namespace paceline::comm {

using launch::Place;

/// A joined world: the place and the store that all ranks share.
struct World {
  Place place;
  c10::intrusive_ptr<c10d::Store> store;  // its keys are this job's alone
  std::vector<std::string> hosts;         // by rank
  std::shared_ptr<launch::Board> board;   // the same store, for notices
  bool serves_store = false;
};

/// Meets the other ranks: collective over the world.  Rank 0 gathers all host
/// names and hands them out; local ranks follow from them where the launcher
/// gave none.  A world of one needs nobody and opens nothing.  Throws
/// UsageError for a port that is taken, WorldError that names who did not come
/// within `timeout`.
World join(const launch::Launch& launch, std::chrono::milliseconds timeout);

/// The prefix of all keys of a job in its store.
std::string job_prefix(const std::string& job);

/// Lets torch's C++ logs show fatal errors only, because what else they tell
/// reaches the user as one sentence of ours; TORCH_CPP_LOG_LEVEL overrides.
void quiet_engine_logs();

/// Says goodbye.  The rank that serves the store stays until all ranks have
/// left, or `patience` is over, because their last words need the store.
void leave(const World& world, std::chrono::milliseconds patience);

/// A channel's specification for ranks 0 .. members-1 of the world; its
/// timeout and device are the caller's to set.  Where all members share a host
/// it goes over the loopback unless `interface` says otherwise.  `name` must
/// be new in the job.
ChannelSpec channel_spec(const World& world,
                         const std::string& name,
                         int members,
                         const std::string& interface = "");

}  // namespace paceline::comm
