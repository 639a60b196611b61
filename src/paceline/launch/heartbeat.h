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

#include "paceline/launch/board.h"

namespace paceline::launch {

/// The step of work that has none: its words alone say where it is.
inline constexpr std::int64_t kNoSteps = -2;

/// What a rank last said of itself: its cell on the board.
struct Progress {
  std::int64_t beats = 0;    // grows with every beat that was posted
  std::int64_t wall_ms = 0;  // since 1970, by that rank's clock
  std::int64_t step = -1;    // -1: before the first; kNoSteps
  std::string operation;     // "all-reduce, 9.4 MB"; may be empty
  bool done = false;         // ended as it should

  friend bool operator==(const Progress&, const Progress&) = default;
};

std::string encode(const Progress& progress);
std::optional<Progress> decode_progress(std::string_view text);

/// "at step 12, all-reduce, 9.4 MB", "before its first step";
/// of work without steps its words, "all-reduce of 64 B".
std::string whereabouts(const Progress& progress);

std::optional<Progress> read_progress(Board& board, int rank);

/// Keeps a rank's cell fresh.  Beats are cheap (one look at the clock) and
/// posted at most once an interval, so a loop may beat as often as it likes.
///
/// Whose silence means that the rank is lost?  The communication thread's,
/// while there is one: it holds a claim, and then only its beats count.  In
/// between (models being built, other ranks' cases) the rank's guard thread
/// beats for it.  All members are safe to call from any thread; they throw
/// WorldError where the board is gone.
class Heartbeat {
 public:
  Heartbeat(std::shared_ptr<Board> board,
            int rank,
            std::chrono::milliseconds interval = std::chrono::seconds(1));

  void beat(std::int64_t step, std::string_view operation);

  /// Beats at once, for what may hang before the next beat is due.
  void arrive(std::int64_t step, std::string_view operation);

  /// Beats with what was last said, unless a claim is held.
  void beat_unless_claimed();

  /// The rank has ended as it should; nobody listens for it any more.
  void finish();

  class Claim {
   public:
    explicit Claim(Heartbeat& heart) : heart_(&heart) { ++heart_->claims_; }
    ~Claim() { --heart_->claims_; }
    Claim(const Claim&) = delete;
    Claim& operator=(const Claim&) = delete;

   private:
    Heartbeat* heart_;
  };

 private:
  bool due();
  void post();

  std::shared_ptr<Board> board_;
  int rank_;
  std::chrono::nanoseconds interval_;
  std::atomic<std::int64_t> next_ns_{0};
  std::atomic<int> claims_{0};
  std::mutex mutex_;  // guards progress_ and the order of posts
  Progress progress_;
};

}  // namespace paceline::launch
