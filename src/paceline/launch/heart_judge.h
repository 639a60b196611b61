// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "paceline/launch/heartbeat.h"

namespace paceline::launch {

/// The key under which a rank leaves its host's name as soon as it has come.
std::string host_key(int rank);

/// A rank that has not been heard of for too long.
struct Silence {
  int rank = 0;
  std::chrono::nanoseconds since{0};
  std::optional<Progress> last;  // absent: it never beat
};

/// Watches the cells of some ranks and says who is lost.
///
/// Times are the judge's own, from when it last saw a cell change, so clocks
/// of several hosts need not agree.  A gap between two looks counts for five
/// seconds at most: a judge that was itself stopped (Ctrl-Z, a suspended
/// machine) must not find everybody else silent.
class HeartJudge {
 public:
  HeartJudge(const std::vector<int>& ranks, std::chrono::nanoseconds timeout);

  /// Reads all cells; `now` on any monotonic clock.
  void look(Board& board, std::chrono::nanoseconds now);

  /// A rank that will not beat again (it ended, or failed by itself).
  void dismiss(int rank);

  /// The longest silent rank beyond the timeout, if any.
  std::optional<Silence> lost() const;

  /// What `rank` last said of itself, as far as this judge has read it.
  std::optional<Progress> last_of(int rank) const;

 private:
  struct Cell {
    std::chrono::nanoseconds silent{0};
    std::optional<Progress> last;
  };

  std::chrono::nanoseconds timeout_;
  std::optional<std::chrono::nanoseconds> last_look_;
  std::map<int, Cell> cells_;
};

}  // namespace paceline::launch
