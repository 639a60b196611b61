// SPDX-License-Identifier: Apache-2.0
#include "paceline/plan/send_queue.h"

#include <algorithm>
#include <deque>
#include <numeric>
#include <queue>
#include <tuple>

#include "paceline/base/error.h"

namespace paceline::plan {

std::vector<std::size_t> starting_order(
    const std::vector<Piece>& pieces,
    std::int64_t credit_bytes,
    const std::function<Picoseconds(std::int64_t)>& time) {
  struct Sent {
    Picoseconds end = 0;
    std::int64_t bytes = 0;
  };
  std::vector<std::size_t> arrivals(pieces.size());
  std::iota(arrivals.begin(), arrivals.end(), std::size_t{0});
  std::ranges::stable_sort(
      arrivals, {}, [&](std::size_t i) { return pieces[i].ready; });
  const auto later = [&](std::size_t left, std::size_t right) {
    return std::tuple(pieces[left].priority, left) >
           std::tuple(pieces[right].priority, right);
  };
  std::priority_queue<std::size_t, std::vector<std::size_t>, decltype(later)>
      queue(later);

  std::vector<std::size_t> order;
  std::deque<Sent> in_flight;
  std::int64_t bytes = 0;
  Picoseconds now = 0, free = 0;
  auto next = arrivals.begin();
  while (order.size() < pieces.size()) {
    for (; next != arrivals.end() && pieces[*next].ready <= now; ++next) {
      queue.push(*next);
    }
    while (!in_flight.empty() && in_flight.front().end <= now) {
      bytes -= in_flight.front().bytes;
      in_flight.pop_front();
    }
    if (!queue.empty() && (in_flight.empty() || bytes < credit_bytes)) {
      const Piece& piece = pieces[queue.top()];
      order.push_back(queue.top());
      queue.pop();
      free = std::max(free, now) + time(piece.bytes);
      in_flight.push_back({free, piece.bytes});
      bytes += piece.bytes;
      continue;
    }
    // Nothing can start now: on to the next arrival or end.
    PACELINE_CHECK(next != arrivals.end() || !in_flight.empty());
    now = in_flight.empty() ? pieces[*next].ready
          : next == arrivals.end()
              ? in_flight.front().end
              : std::min(pieces[*next].ready, in_flight.front().end);
  }
  return order;
}

}  // namespace paceline::plan
