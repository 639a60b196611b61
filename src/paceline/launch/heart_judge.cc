// SPDX-License-Identifier: Apache-2.0
#include "paceline/launch/heart_judge.h"

#include <algorithm>

#include <fmt/format.h>

namespace paceline::launch {

using namespace std::chrono_literals;

std::string host_key(int rank) {
  return fmt::format("host/{}", rank);
}

HeartJudge::HeartJudge(const std::vector<int>& ranks,
                       std::chrono::nanoseconds timeout)
    : timeout_(timeout) {
  for (const int rank : ranks) {
    cells_[rank];
  }
}

void HeartJudge::look(Board& board, std::chrono::nanoseconds now) {
  const auto gap =
      last_look_ ? std::min<std::chrono::nanoseconds>(now - *last_look_, 5s)
                 : 0ns;
  last_look_ = now;
  for (auto it = cells_.begin(); it != cells_.end();) {
    auto& [rank, cell] = *it;
    const auto progress = read_progress(board, rank);
    if (progress && progress->done) {
      it = cells_.erase(it);
      continue;
    }
    if (progress && (!cell.last || cell.last->beats != progress->beats)) {
      cell = {0ns, progress};
    } else {
      cell.silent += gap;
    }
    ++it;
  }
}

void HeartJudge::dismiss(int rank) {
  cells_.erase(rank);
}

std::optional<Silence> HeartJudge::lost() const {
  std::optional<Silence> worst;
  for (const auto& [rank, cell] : cells_) {
    if (cell.silent > timeout_ && (!worst || cell.silent > worst->since)) {
      worst = Silence{rank, cell.silent, cell.last};
    }
  }
  return worst;
}

std::optional<Progress> HeartJudge::last_of(int rank) const {
  const auto cell = cells_.find(rank);
  return cell == cells_.end() ? std::nullopt : cell->second.last;
}

}  // namespace paceline::launch
