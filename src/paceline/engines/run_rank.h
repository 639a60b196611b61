// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <exception>
#include <functional>
#include <memory>

#include "paceline/engines/world.h"
#include "paceline/launch/failure_notice.h"
#include "paceline/launch/heartbeat.h"

namespace paceline::launch {
class RankMonitor;  // launch/rank_monitor.h
}

namespace paceline::engines {

/// What the function that a rank runs gets: the joined world and the heartbeat.
struct RankContext {
  const World& world;
  launch::Heartbeat& heartbeat;
};

/// Called before the failure of any rank ends this process, if no parent supervises the ranks; if
/// the body is stuck, on another thread.  May set the role in `cause` for a rank that can no longer
/// report its role itself.
using OnFailure = std::function<void(launch::FailureNotice& cause)>;

/// Whether the launcher kills this process within a second, as mpirun does after it has asked the
/// process to stop.
bool is_killed_soon(const World& world);

/// Returns why the launcher has asked this rank to stop, if that becomes known shortly after:
/// another rank's reported failure, or a process of this machine that has ended. Otherwise the
/// notice says only that the rank was asked to stop.
launch::FailureNotice stop_cause_notice(const World& world);

/// A rank that has joined the world.  Until it leaves or fails, it sends a heartbeat and a
/// launch::RankMonitor watches it.
class JoinedRank {
 public:
  /// Joins the world; `timeout` and `on_failure` are as in run_rank().
  JoinedRank(const launch::Launch& launch, std::chrono::milliseconds timeout,
             OnFailure on_failure = {});
  ~JoinedRank();
  JoinedRank(const JoinedRank&) = delete;
  JoinedRank& operator=(const JoinedRank&) = delete;

  const World& world() const { return world_; }
  launch::Heartbeat& heartbeat() { return *heartbeat_; }

  /// False in a world of one without a supervisor, where no process needs to learn of a failure.
  bool is_watched() const { return monitor_ != nullptr; }

  /// Reports the failure and ends the process, as run_rank() does if its body throws.
  [[noreturn]] void fail(const std::exception& error);

  /// Does what run_rank() does when its body has returned.  Must be called once.
  void leave(int exit_code);

 private:
  const std::chrono::milliseconds timeout_;
  const OnFailure on_failure_;
  const World world_;
  std::shared_ptr<launch::Heartbeat> heartbeat_;
  std::unique_ptr<launch::RankMonitor> monitor_;
};

/// Joins the world, runs `body` under a launch::RankMonitor and leaves the world; returns the
/// body's exit code.  A rank that is asked to stop while it joins, or whose body throws
/// launch::StopRequested, ends with the exit code 128 + signal.  `timeout` is --timeout: the limit
/// for joining, and the longest time that a rank may send no heartbeat.
///
/// If the body throws in a world of several ranks, the failure is posted to the store, and the
/// process ends at once with exit code 2 (UsageError) or 3.  One sentence is printed, by the
/// supervising parent or else by one of the ranks, and no other rank ends before it is printed.  In
/// a world of one without a supervisor the exception passes through.
int run_rank(const launch::Launch& launch, std::chrono::milliseconds timeout,
             const std::function<int(const RankContext&)>& body, const OnFailure& on_failure = {});

/// Posts the failure as `run_rank` does if its body throws, and ends the process.  Any thread of a
/// joined rank may call it.
[[noreturn]] void end_failed_rank(const World& world, std::chrono::milliseconds timeout,
                                  const std::exception& error, const OnFailure& on_failure = {});

}  // namespace paceline::engines
