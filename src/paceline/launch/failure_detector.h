// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "paceline/launch/heartbeat.h"

namespace paceline::launch {

/// The key under which a rank stores its host's name as soon as it has joined.
std::string host_key(int rank);

/// The largest part of the time between two polls that counts as silence. If the observer itself
/// was stopped meanwhile (Ctrl-Z, a suspended machine), it must not conclude that all other ranks
/// are silent.
constexpr std::chrono::nanoseconds longest_gap(std::chrono::nanoseconds timeout) {
  return std::max<std::chrono::nanoseconds>(timeout / 4, std::chrono::seconds(1));
}

/// A rank whose heartbeat has stopped.
struct SilentRank {
  int rank = 0;
  std::chrono::nanoseconds since{0};  // time since its last heartbeat
  std::optional<Progress> last;       // its last progress; nothing: no heartbeat was seen
};

/// Reads the heartbeats of some ranks and finds the ranks that have failed.
///
/// Times are measured on the detector's own clock, from the poll that saw a heartbeat change, so
/// the clocks of several hosts need not agree. Of the time between two polls at most longest_gap()
/// counts.
class FailureDetector {
 public:
  FailureDetector(const std::vector<int>& ranks, std::chrono::nanoseconds timeout);

  /// Reads the heartbeats. `now` is the time on any monotonic clock.
  void poll(KeyValueStore& store, std::chrono::nanoseconds now);

  /// Stops watching a rank that has ended or has reported its own failure.
  void remove(int rank);

  /// Returns the rank that has been silent for longest, if its silence exceeds the timeout.
  std::optional<SilentRank> silent_rank() const;

  /// Returns the progress of `rank` that poll() read last.
  std::optional<Progress> last_progress(int rank) const;

 private:
  struct State {
    std::chrono::nanoseconds silent{0};
    std::optional<Progress> last;
  };

  std::chrono::nanoseconds timeout_;
  std::optional<std::chrono::nanoseconds> last_poll_;
  std::map<int, State> ranks_;
};

}  // namespace paceline::launch
