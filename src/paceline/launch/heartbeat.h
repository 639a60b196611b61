// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "paceline/launch/key_value_store.h"

namespace paceline::launch {

/// The `step` of work that has no steps: the operation alone says where it is.
inline constexpr std::int64_t kNoSteps = -2;

/// Where a rank is, as it last wrote to the store.
struct Progress {
  std::int64_t beats = 0;    // number of heartbeats
  std::int64_t wall_ms = 0;  // since 1970, by that rank's clock
  std::int64_t step = -1;    // -1: before the first; kNoSteps
  std::string operation;     // "all-reduce, 9.4 MB"; may be empty
  bool done = false;         // the rank has finished

  friend bool operator==(const Progress&, const Progress&) = default;
};

std::string encode(const Progress& progress);
std::optional<Progress> decode_progress(std::string_view text);

/// "at step 12, all-reduce, 9.4 MB", "before its first step"; of work without
/// steps the operation, "all-reduce of 64 B".
std::string position_text(const Progress& progress);
/// Without progress: "before it began".
std::string position_text(const std::optional<Progress>& progress);

std::optional<Progress> read_progress(KeyValueStore& store, int rank);

/// Writes a rank's progress to the store, at most once an interval.  A call
/// that writes nothing costs one look at the clock.
///
/// While a claim is held, only its holder's heartbeats count: the communication
/// thread holds one, so that a rank whose communication hangs falls silent.
/// Without a claim (models are built, other ranks' cases run) the thread of
/// RankMonitor sends the heartbeats.  All members may be called from any thread
/// and throw WorldError where the store cannot be reached.
class Heartbeat {
 public:
  Heartbeat(std::shared_ptr<KeyValueStore> store,
            int rank,
            std::chrono::milliseconds interval = std::chrono::seconds(1));

  void beat(std::int64_t step, std::string_view operation);

  /// Writes at once, before an operation that may hang.
  void beat_now(std::int64_t step, std::string_view operation);

  /// Repeats the last progress, unless a claim is held.
  void beat_unless_claimed();

  /// The rank has finished: its heartbeat may stop.
  void finish();

  class Claim {
   public:
    explicit Claim(Heartbeat& heartbeat) : heartbeat_(&heartbeat) {
      ++heartbeat_->claims_;
    }
    ~Claim() { --heartbeat_->claims_; }
    Claim(const Claim&) = delete;
    Claim& operator=(const Claim&) = delete;

   private:
    Heartbeat* heartbeat_;
  };

 private:
  bool due();
  void write();

  std::shared_ptr<KeyValueStore> store_;
  int rank_;
  std::chrono::nanoseconds interval_;
  std::atomic<std::int64_t> next_ns_{0};
  std::atomic<int> claims_{0};
  std::mutex mutex_;  // guards progress_ and the order of writes
  Progress progress_;
};

}  // namespace paceline::launch
