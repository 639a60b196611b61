// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "paceline/engines/world.h"
#include "paceline/launch/heartbeat.h"

namespace paceline::engines {

/// What a rank works with.
struct RankContext {
  const World& world;
  launch::Heartbeat& heart;
};

/// Joins the world, runs `body` under a guard (launch/rank_guard.h) and leaves
/// the world; returns the body's exit code.  `timeout` is --timeout: for
/// joining, and for how long a heart may be silent.
///
/// Where the body throws in a world of several ranks, the failure is filed for
/// whoever tells it to the user (the supervising parent, or the ranks among
/// themselves: one of them prints one sentence) and the process ends at once
/// with 2 (UsageError) or 3, without waiting for peers.  In a world of one
/// that nobody supervises the exception passes.
///
/// `last_words` is called where a failure, this rank's or another's, is about
/// to end the process; on the guard's thread where the body is stuck.
int run_rank(const launch::Launch& launch,
             std::chrono::milliseconds timeout,
             const std::function<int(const RankContext&)>& body,
             const std::function<void()>& last_words = {});

}  // namespace paceline::engines
