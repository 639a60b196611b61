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

/// The value of Progress::step for work without steps. The position of such work is its operation
/// alone.
inline constexpr std::int64_t kNoSteps = -2;

/// The progress of a rank, as the rank last wrote it to the store.
struct Progress {
  std::int64_t beats = 0;    // number of heartbeats
  std::int64_t wall_ms = 0;  // Unix time in ms, by that rank's clock
  std::int64_t step = -1;    // -1: before the first step; or kNoSteps
  std::string operation;     // "all-reduce, 9.4 MB"; may be empty
  bool done = false;         // the rank has finished
  std::string role{};        // "server 0"; empty if all ranks do the same
  /// How long the rank has been waiting at the store; 0: it does not wait.
  std::int64_t waited_ms = 0;

  friend bool operator==(const Progress&, const Progress&) = default;
};

std::string encode(const Progress& progress);
std::optional<Progress> decode_progress(std::string_view text);

/// Describes a position: "at step 12, all-reduce, 9.4 MB", "before its first step". For work
/// without steps it is the operation, "all-reduce of 64 B".
std::string position_text(const Progress& progress);
/// Returns the text for a progress that may be absent: then "before it began".
std::string position_text(const std::optional<Progress>& progress);
/// Describes where a rank ended, to be appended to a sentence that says how it ended: "; last
/// heartbeat at step 12, all-reduce". The rank may have got further within one heartbeat interval.
/// Without progress the text is " before it began".
std::string last_heartbeat_text(const std::optional<Progress>& progress);
/// Returns the role that a rank wrote with its progress, such as "server 0"; empty if it has none,
/// or without progress.
std::string role_of(const std::optional<Progress>& progress);

std::optional<Progress> read_progress(KeyValueStore& store, int rank);

/// Announces to all ranks that one of them has failed, which ends the job.
void announce_end(KeyValueStore& store);

/// Writes a rank's progress to the store, at most once per interval. A call that writes nothing
/// only reads the clock, and takes a lock if there are several claims.
///
/// Each communication thread holds a Claim. While there are claims, only beat() sends heartbeats,
/// and each heartbeat needs calls from as many threads as there are claims since the last one. So a
/// rank falls silent if one of its communication threads hangs, or waits for a lock that a hanging
/// thread holds. Without a claim (while models are built, or other ranks' cases run) the thread of
/// RankMonitor sends the heartbeats. All members may be called from any thread. They throw
/// WorldError if the store cannot be reached.
class Heartbeat {
 public:
  Heartbeat(std::shared_ptr<KeyValueStore> store, int rank,
            std::chrono::milliseconds interval = std::chrono::seconds(1));

  /// Throws PeerTimeout if the end of the job was announced. This is needed because an engine may
  /// not notice that a peer is gone, as MPI over shared memory.
  void beat(std::int64_t step, std::string_view operation);

  /// Sends a heartbeat immediately. To be called before an operation that may hang.
  void beat_now(std::int64_t step, std::string_view operation);

  /// Sends the last progress again, unless a claim is held.
  void beat_unless_claimed();

  /// Sets the rank's role, which messages about its failure contain. Writes immediately if the role
  /// has changed.
  void set_role(const std::string& role);
  std::string role() const;

  /// Says that the rank has finished, so that its heartbeat may stop.
  void finish();

  /// Reports that the main thread makes progress, for example while it waits for others. Has no
  /// effect if another thread calls it.
  void note_progress();

  /// A counter that changes whenever the main thread, which made this heartbeat, makes progress: it
  /// counts calls of beat() and note_progress(), and the begins and ends of Holds.
  std::int64_t progress_count() const { return progress_count_; }
  /// watched() returns whether a Hold says that the work of the main thread has its own deadlines.
  /// waits() returns whether a Hold says that the main thread waits for other ranks.
  bool has_own_deadlines() const { return own_deadline_holds_ > 0; }
  bool waits() const { return waits_ > 0; }
  /// Returns the position of the rank at the last heartbeat, which any thread may have sent.
  std::string position() const;
  /// Returns the CPU time that the main thread has used since it started.
  std::chrono::nanoseconds main_thread_time() const;
  /// Returns how long the main thread has been waiting at the store for other ranks; 0 if it does
  /// not wait.
  std::chrono::milliseconds waited() const;
  /// Returns the key of the store that the main thread waits for, or last waited for.
  std::string awaited_key() const;

  /// While a Hold exists, the main thread does not count as hung if it makes no progress.
  class Hold {
   public:
    enum class For {
      kPeers,   // the main thread waits for other ranks (peers)
      kWatched  // the main thread's work has deadlines of its own
    };
    Hold(Heartbeat& heartbeat, For what)
        : progress_count_(heartbeat.progress_count_),
          count_(what == For::kPeers ? heartbeat.waits_ : heartbeat.own_deadline_holds_) {
      ++progress_count_;
      ++count_;
    }
    ~Hold() {
      ++progress_count_;
      --count_;
    }
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;

   private:
    std::atomic<std::int64_t>& progress_count_;
    std::atomic<int>& count_;
  };

  /// While a Waiting exists, the main thread waits at the store for other ranks and does nothing
  /// else.
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
  bool is_heartbeat_due();
  void write();

  std::shared_ptr<KeyValueStore> store_;
  int rank_;
  std::chrono::nanoseconds interval_;
  std::atomic<std::int64_t> next_ns_{0};
  std::atomic<int> claims_{0};
  std::atomic<bool> ended_{false};  // whether the end of the job was announced
  std::atomic<std::int64_t> progress_count_{0};
  std::atomic<int> own_deadline_holds_{0}, waits_{0};
  std::atomic<std::int64_t> waiting_since_ns_{0};  // 0: the main thread does not wait
  const pthread_t main_ = pthread_self();
  clockid_t main_clock_{};
  mutable std::mutex mutex_;  // guards the members below, and the order of writes
  Progress progress_;
  std::string awaited_;
  /// Threads that called beat() since this set was last complete.
  std::set<std::thread::id> beating_;
};

}  // namespace paceline::launch
