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

#include "paceline/launch/board.h"
#include "paceline/launch/heartbeat.h"

namespace paceline::launch {

/// A thread in every rank that beats while no communication thread does, and,
/// where no parent supervises the ranks (torchrun, mpirun, srun), listens:
/// rank 0 judges all hearts, rank 1 judges rank 0's, and everybody ends when a
/// failure is filed or the board is gone, however stuck its other threads are.
///
/// A board that neither answers nor breaks (who serves it was stopped) would
/// hold the guard itself, so a second thread turns an hourglass over with every
/// look at the board, and ends the process when it runs out.
class RankGuard {
 public:
  struct Options {
    std::shared_ptr<Board> board;
    std::shared_ptr<Heartbeat> heart;
    int rank = 0;
    std::vector<std::string> hosts;  // by rank
    bool supervised = false;         // our own launcher's parent judges
    bool board_is_rank_0s = false;   // it goes away with that rank
    std::chrono::milliseconds timeout{60'000};
    /// After a failure of another rank was filed, so long for this one to end
    /// by itself.
    std::chrono::milliseconds patience{5'000};
    /// Ends the process; gets the sentence that this rank should print, or an
    /// empty text where another rank prints it.  Runs on the guard's thread.
    std::function<void(const std::string& sentence)> end;
  };

  /// What rank 1 says when the board is gone; empty for other ranks.
  static std::string lost_board(const Options& options,
                                const std::string& reason);

  explicit RankGuard(Options options);
  ~RankGuard();  // stops listening

 private:
  // What the hourglass sees of the looks at the board.
  struct Looks {
    std::mutex mutex;
    bool under_way = false;
    std::int64_t begun = 0;
    std::optional<Progress> rank_0;  // as rank 1 last read it
  };

  void run(const std::stop_token& stopped);
  void watch_looks(const std::stop_token& stopped);
  std::string mute_board(std::chrono::nanoseconds since);

  Options options_;
  Looks looks_;
  std::jthread hourglass_;  // outlives the next one, which may be stuck
  std::jthread thread_;     // last: starts when all else is there
};

}  // namespace paceline::launch
