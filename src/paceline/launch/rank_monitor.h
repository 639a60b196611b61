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

/// A rank may wait for others that compute for so many times the timeout; a rank that hangs is
/// found before.
inline constexpr int kPeersFactor = 10;

/// Where a launcher asks all ranks to stop, it has asked the last one so long after the first one
/// at most.
inline constexpr std::chrono::seconds kAskedTogether{2};

/// A thread of every rank.  It sends the heartbeat while no communication thread does.  Where no
/// parent supervises the ranks (torchrun, mpirun, srun), it also detects failures: rank 0 watches
/// all other ranks, rank 1 watches rank 0, and each rank sees the death of those on its own
/// machine.  Where rank 0 serves the store and is asked to stop alone, the others see what it wrote
/// of that before the store is gone.  A failure that is detected or posted is announced to the
/// threads that send heartbeats, and each rank ends when `grace` is over, or the store is gone,
/// however stuck its other threads are.
///
/// It also ends its own rank, and names it, where the main thread has stood still for `timeout`, or
/// waited for other ranks for ten times as long: it has not got ahead (Heartbeat::moves), has used
/// no CPU time, and nobody else watches it.  Where all ranks have waited at the store for ten times
/// the timeout, none of them will go on, and one ends the job.
///
/// A store that neither answers nor breaks (its server was stopped) blocks this thread, so a second
/// one, the watchdog, ends the process when a poll of the store takes too long.
class RankMonitor {
 public:
  struct Options {
    std::shared_ptr<KeyValueStore> store;
    std::shared_ptr<Heartbeat> heartbeat;
    int rank = 0;
    std::vector<std::string> hosts;    // by rank
    bool supervised = false;           // the parent detects failures
    bool rank_0_serves_store = false;  // the store dies with rank 0
    std::chrono::milliseconds timeout{60'000};
    /// How long this rank may take to end by itself after another rank's failure.
    std::chrono::milliseconds grace{5'000};
    EndedRanks ended{};  // on this machine
    /// Whether the launcher is about to kill this process.
    std::function<bool()> killed_soon{};
    /// Called once, where the rank has not ended a moment after that.
    std::function<void()> before_kill{};
    /// Prints the failure of another rank, which this one has detected.
    std::function<void(const FailureNotice& cause)> tell;
    /// Ends the process; `prints`: this rank is the one that prints the cause. Both run on a thread
    /// of the monitor.
    std::function<void(const FailureNotice& cause, bool prints)> end;
  };

  explicit RankMonitor(Options options);
  ~RankMonitor();  // stops both threads

 private:
  // What the watchdog sees of the polls of the store.
  struct Polls {
    std::mutex mutex;
    bool under_way = false;
    std::int64_t begun = 0;
    std::optional<Progress> rank_0;  // as rank 1 last read it
  };

  void run(const std::stop_token& stopped);
  bool pause(const std::stop_token& stopped, std::chrono::milliseconds duration);
  void run_watchdog(const std::stop_token& stopped);
  FailureNotice silent_store(std::chrono::nanoseconds since);

  Options options_;
  bool was_killed_soon_ = false;
  Polls polls_;
  std::jthread watchdog_;  // outlives the next one, which may be stuck
  std::jthread thread_;    // last: uses all other members
};

/// Why the store is gone, which rank 1 prints.
FailureNotice lost_store(const std::vector<std::string>& hosts, bool rank_0_serves_store,
                         const std::string& reason);

}  // namespace paceline::launch
