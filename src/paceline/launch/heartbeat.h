// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>

#include <pthread.h>

#include "paceline/launch/key_value_store.h"

namespace paceline::launch {

/// The `step` of work that has no steps: the operation alone says where it is.
inline constexpr std::int64_t kNoSteps = -2;

/// Where a rank is, as it last wrote to the store.
struct Progress {
  std::int64_t beats = 0;      // number of heartbeats
  std::int64_t wall_ms = 0;    // since 1970, by that rank's clock
  std::int64_t step = -1;      // -1: before the first; kNoSteps
  std::string operation;       // "all-reduce, 9.4 MB"; may be empty
  bool done = false;           // the rank has finished
  std::string role{};          // "server 0"; empty where all ranks do the same
  std::int64_t waited_ms = 0;  // at the store for other ranks, till now

  friend bool operator==(const Progress&, const Progress&) = default;
};

std::string encode(const Progress& progress);
std::optional<Progress> decode_progress(std::string_view text);

/// "at step 12, all-reduce, 9.4 MB", "before its first step"; of work without steps the operation,
/// "all-reduce of 64 B".
std::string position_text(const Progress& progress);
/// Without progress: "before it began".
std::string position_text(const std::optional<Progress>& progress);
/// What is known of where a rank ended, behind a sentence that says how: "; last heartbeat at step
/// 12, all-reduce", because up to a heartbeat's interval has passed since; without progress "
/// before it began".
std::string last_heartbeat_text(const std::optional<Progress>& progress);
/// Without progress: empty.
std::string role_of(const std::optional<Progress>& progress);

std::optional<Progress> read_progress(KeyValueStore& store, int rank);

/// Tells all ranks that one of them has failed, and that this ends the job.
void announce_end(KeyValueStore& store);

/// Writes a rank's progress to the store, at most once an interval.  A call that writes nothing
/// costs one look at the clock, and a lock where there are several claims.
///
/// While claims are held, only beat() sends heartbeats, and only once as many threads as there are
/// claims have called it since the last one: each communication thread has a claim, so that a rank
/// falls silent where one of its communication threads hangs, or waits for a lock that a hanging
/// thread holds.  Without a claim (models are built, other ranks' cases run) the thread of
/// RankMonitor sends the heartbeats.  All members may be called from any thread and throw
/// WorldError where the store cannot be reached.
class Heartbeat {
 public:
  Heartbeat(std::shared_ptr<KeyValueStore> store, int rank,
            std::chrono::milliseconds interval = std::chrono::seconds(1));

  /// Throws PeerTimeout where the end of the job was announced: an engine need not notice that a
  /// peer is gone, as MPI over shared memory.
  void beat(std::int64_t step, std::string_view operation);

  /// Writes at once, before an operation that may hang.
  void beat_now(std::int64_t step, std::string_view operation);

  /// Repeats the last progress, unless a claim is held.
  void beat_unless_claimed();

  /// What the rank is from here on, for the sentence of a failure.  Writes at once where that is
  /// new.
  void set_role(const std::string& role);
  std::string role() const;

  /// The rank has finished: its heartbeat may stop.
  void finish();

  /// The main thread waits, and does not hang: counts as a move of it.  Nothing on other threads.
  void note_move();

  /// How often the thread that made this heartbeat, the rank's main thread, has got ahead: its own
  /// beats, moves that it noted, and Holds.
  std::int64_t moves() const { return moves_; }
  /// Somebody else watches the main thread; it waits for other ranks.
  bool watched() const { return watched_ > 0; }
  bool waits() const { return waits_ > 0; }
  /// What the main thread was at, by the last heartbeat of any thread.
  std::string position() const;
  /// The CPU time that the main thread has used.
  std::chrono::nanoseconds main_thread_time() const;
  /// For how long the main thread has waited at the store for other ranks; 0 where it does not.
  std::chrono::milliseconds waited() const;
  /// The key for which it waits.
  std::string awaited() const;

  /// While it lives, the main thread may stand still.
  class Hold {
   public:
    enum class For {
      kPeers,   // waits for other ranks
      kWatched  // is in work that has deadlines of its own
    };
    Hold(Heartbeat& heartbeat, For what)
        : moves_(heartbeat.moves_),
          count_(what == For::kPeers ? heartbeat.waits_ : heartbeat.watched_) {
      ++moves_;
      ++count_;
    }
    ~Hold() {
      ++moves_;
      --count_;
    }
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;

   private:
    std::atomic<std::int64_t>& moves_;
    std::atomic<int>& count_;
  };

  /// While it lives, the main thread waits at the store for other ranks, and does nothing else.
  class Waiting {
   public:
    Waiting(Heartbeat& heartbeat, const std::string& key);
    ~Waiting() { heartbeat_.waiting_since_ns_ = 0; }
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;

   private:
    Heartbeat& heartbeat_;
  };

  class Claim {
   public:
    explicit Claim(Heartbeat& heartbeat) : heartbeat_(&heartbeat) { ++heartbeat_->claims_; }
    ~Claim() { --heartbeat_->claims_; }
    Claim(const Claim&) = delete;
    Claim& operator=(const Claim&) = delete;

   private:
    Heartbeat* heartbeat_;
  };

 private:
  bool all_claims_beat();
  bool due();
  void write();

  std::shared_ptr<KeyValueStore> store_;
  int rank_;
  std::chrono::nanoseconds interval_;
  std::atomic<std::int64_t> next_ns_{0};
  std::atomic<int> claims_{0};
  std::atomic<bool> ended_{false};  // the end of the job was announced
  std::atomic<std::int64_t> moves_{0};
  std::atomic<int> watched_{0}, waits_{0};
  std::atomic<std::int64_t> waiting_since_ns_{0};  // 0: it does not wait
  const pthread_t main_ = pthread_self();
  clockid_t main_clock_{};
  mutable std::mutex mutex_;  // guards what follows, and the order of writes
  Progress progress_;
  std::string awaited_;
  std::set<std::thread::id> beating_;  // since the last heartbeat
};

}  // namespace paceline::launch
