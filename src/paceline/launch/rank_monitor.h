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

#include "paceline/launch/heartbeat.h"
#include "paceline/launch/key_value_store.h"

namespace paceline::launch {

/// A rank may wait for others that compute for so many times the timeout; a
/// rank that hangs is found before.
inline constexpr int kPeersFactor = 10;

/// A thread of every rank.  It sends the heartbeat while no communication
/// thread does.  Where no parent supervises the ranks (torchrun, mpirun, srun),
/// it also detects failures: rank 0 watches all other ranks, rank 1 watches
/// rank 0, and each rank ends when a failure is posted or the store is gone,
/// however stuck its other threads are.
///
/// It also ends its own rank, and names it, where the main thread has stood
/// still for `timeout`, or waited for other ranks for ten times as long: it has
/// not got ahead (Heartbeat::moves), has used no CPU time, and nobody else
/// watches it.
///
/// A store that neither answers nor breaks (its server was stopped) blocks this
/// thread, so a second one, the watchdog, ends the process when a poll of the
/// store takes too long.
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
    /// How long this rank may take to end by itself after another rank's
    /// failure.
    std::chrono::milliseconds grace{5'000};
    /// Ends the process.  Gets the sentence that this rank shall print; empty
    /// where another rank prints it.  Runs on a thread of the monitor.
    std::function<void(const std::string& message)> end;
  };

  /// What rank 1 prints when the store is gone; empty for other ranks.
  static std::string lost_store_message(const Options& options,
                                        const std::string& reason);

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
  void run_watchdog(const std::stop_token& stopped);
  std::string silent_store_message(std::chrono::nanoseconds since);

  Options options_;
  Polls polls_;
  std::jthread watchdog_;  // outlives the next one, which may be stuck
  std::jthread thread_;    // last: uses all other members
};

}  // namespace paceline::launch
