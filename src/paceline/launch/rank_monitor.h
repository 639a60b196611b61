// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "paceline/launch/failure_notice.h"
#include "paceline/launch/heartbeat.h"
#include "paceline/launch/key_value_store.h"

namespace paceline::launch {

/// A rank may wait for other ranks for this multiple of the timeout, because they may compute that
/// long. A rank that hangs is found earlier.
inline constexpr int kPeerWaitFactor = 10;

/// A launcher that asks all ranks to stop does so within this time, from the first rank to the
/// last.
inline constexpr std::chrono::seconds kStopRequestSpread{2};

/// A monitor thread in every rank. It sends the heartbeat while no communication thread does. If no
/// parent supervises the ranks (torchrun, mpirun, srun), it also detects failures: rank 0 watches
/// all other ranks, rank 1 watches rank 0, and each rank sees the death of ranks on its own
/// machine. If rank 0 serves the store and is asked to stop alone, the other ranks read its notice
/// of this before the store is gone. A failure that is detected or posted is announced to the
/// threads that send heartbeats. Each rank ends when `grace` is over or the store is gone, even if
/// its other threads are stuck.
///
/// The monitor also ends its own rank, and names it, if the main thread has made no progress for
/// `timeout`, or has waited for other ranks for ten times as long. No progress means: the counter
/// of the heartbeat has not changed, no CPU time was used, and no other deadline applies to the
/// main thread. If all ranks have waited at the store for ten times the timeout, none of them can
/// go on, and one ends the job.
///
/// A store that neither answers nor fails (its server was stopped) blocks this thread. So a second
/// thread, the watchdog, ends the process if a poll of the store takes too long.
class RankMonitor {
 public:
  struct Options {
    std::shared_ptr<KeyValueStore> store;
    std::shared_ptr<Heartbeat> heartbeat;
    int rank = 0;
    std::vector<std::string> hosts;    // by rank
    bool supervised = false;           // whether the parent detects failures
    bool rank_0_serves_store = false;  // whether the store ends with rank 0
    std::chrono::milliseconds timeout{60'000};
    /// How long this rank may continue after another rank's failure before the monitor ends it.
    std::chrono::milliseconds grace{5'000};
    EndedRanks ended{};  // returns the ranks on this machine whose processes have ended
    /// Returns whether the launcher is about to kill this process.
    std::function<bool()> will_be_killed_soon{};
    /// Called once, if the rank still runs a moment after will_be_killed_soon has returned true.
    std::function<void()> before_kill{};
    /// Prints the notice of another rank's failure, which this rank has detected.
    std::function<void(const FailureNotice& cause)> report_failure;
    /// Ends the process. `prints` says whether this rank is the one that prints the cause. This
    /// function and `report_failure` run on a thread of the monitor.
    std::function<void(const FailureNotice& cause, bool prints)> end;
  };

  explicit RankMonitor(Options options);
  ~RankMonitor();  // stops both threads

 private:
  // The state of this rank's polls of the store, which the watchdog reads.
  struct PollState {
    std::mutex mutex;
    bool is_poll_running = false;
    std::int64_t started_polls = 0;
    std::optional<Progress> rank_0;  // rank 0's progress as rank 1 last read it
  };

  void run(const std::stop_token& stopped);
  bool pause(const std::stop_token& stopped, std::chrono::milliseconds duration);
  void run_watchdog(const std::stop_token& stopped);
  FailureNotice silent_store_notice(std::chrono::nanoseconds since);

  Options options_;
  bool was_killed_soon_ = false;
  PollState poll_state_;
  std::jthread watchdog_;  // outlives thread_, which may be stuck
  std::jthread thread_;    // declared last, as it uses all other members
};

/// Returns the notice that says why the store is gone, which rank 1 prints.
FailureNotice lost_store_notice(const std::vector<std::string>& hosts, bool rank_0_serves_store,
                                const std::string& reason);

}  // namespace paceline::launch
