// SPDX-License-Identifier: Apache-2.0
#include "paceline/launch/failure_detector.h"

#include <algorithm>

#include <fmt/format.h>

namespace paceline::launch {

using namespace std::chrono_literals;

std::string host_key(int rank) { return fmt::format("host/{}", rank); }

FailureDetector::FailureDetector(const std::vector<int>& ranks, std::chrono::nanoseconds timeout)
    : timeout_(timeout) {
  for (const int rank : ranks) {
    ranks_[rank];
  }
}

void FailureDetector::poll(KeyValueStore& store, std::chrono::nanoseconds now) {
  const auto gap = last_poll_ ? std::min(now - *last_poll_, longest_gap(timeout_)) : 0ns;
  last_poll_ = now;
  for (auto it = ranks_.begin(); it != ranks_.end();) {
    auto& [rank, state] = *it;
    const auto progress = read_progress(store, rank);
    if (progress && progress->done) {
      it = ranks_.erase(it);
      continue;
    }
    if (progress && (!state.last || state.last->beats != progress->beats)) {
      state = {0ns, progress};
    } else {
      state.silent += gap;
    }
    ++it;
  }
}

void FailureDetector::remove(int rank) { ranks_.erase(rank); }

std::optional<SilentRank> FailureDetector::silent_rank() const {
  std::optional<SilentRank> longest;
  for (const auto& [rank, state] : ranks_) {
    if (state.silent > timeout_ && (!longest || state.silent > longest->since)) {
      longest = SilentRank{rank, state.silent, state.last};
    }
  }
  return longest;
}

std::optional<Progress> FailureDetector::last_progress(int rank) const {
  const auto state = ranks_.find(rank);
  return state == ranks_.end() ? std::nullopt : state->second.last;
}

}  // namespace paceline::launch
