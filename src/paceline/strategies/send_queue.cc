// SPDX-License-Identifier: Apache-2.0
#include "paceline/strategies/send_queue.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <queue>
#include <tuple>

#include "paceline/base/error.h"
#include "paceline/strategies/side_by_side.h"

namespace paceline::strategies {

namespace {

/// Pieces that have started, and how many bytes of them have not ended.
class UnderWay {
 public:
  UnderWay(const std::vector<QueuedPiece>& pieces, const CrossingTime& time)
      : pieces_(pieces), time_(time), wire_(time.side_by_side()) {}

  void start(std::size_t piece) {
    const std::int64_t bytes = pieces_[piece].bytes;
    const Picoseconds start = time_.one_by_one() ? 0 : time_.start(bytes);
    wire_.add(std::llround(now_), start, time_(bytes) - start);
    bytes_ += bytes;
    order_.push_back(piece);
  }

  bool has_room(std::int64_t credit_bytes) const {
    return ended_ == order_.size() || bytes_ < credit_bytes;
  }

  /// On to the next thing that happens, `arrival` or before.
  void advance(double arrival) {
    now_ = std::min(arrival, wire_.next_time());
    PACELINE_CHECK(std::isfinite(now_));
    wire_.advance(now_);
    for (; ended_ < wire_.ended().size(); ++ended_) {
      bytes_ -= pieces_[order_[wire_.ended()[ended_]]].bytes;
    }
  }

  double now() const { return now_; }
  const std::vector<std::size_t>& order() const { return order_; }
  const std::vector<Picoseconds>& ends() { return wire_.ends(); }

 private:
  const std::vector<QueuedPiece>& pieces_;
  const CrossingTime& time_;
  SideBySide wire_;
  std::vector<std::size_t> order_;
  std::size_t ended_ = 0;
  std::int64_t bytes_ = 0;
  double now_ = 0;
};

constexpr double kNever = std::numeric_limits<double>::infinity();

}  // namespace

std::vector<std::size_t> starting_order(const std::vector<QueuedPiece>& pieces,
                                        std::int64_t credit_bytes,
                                        const CrossingTime& time) {
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

  UnderWay under_way(pieces, time);
  auto next = arrivals.begin();
  while (under_way.order().size() < pieces.size()) {
    for (; next != arrivals.end() &&
           static_cast<double>(pieces[*next].ready) <= under_way.now();
         ++next) {
      queue.push(*next);
    }
    if (!queue.empty() && under_way.has_room(credit_bytes)) {
      under_way.start(queue.top());
      queue.pop();
    } else {
      double arrival = kNever;
      if (next != arrivals.end()) {
        arrival = static_cast<double>(pieces[*next].ready);
      }
      under_way.advance(arrival);
    }
  }
  return under_way.order();
}

std::vector<Picoseconds> ends_in_order(const std::vector<QueuedPiece>& pieces,
                                       const std::vector<std::size_t>& order,
                                       std::int64_t credit_bytes,
                                       const CrossingTime& time) {
  UnderWay under_way(pieces, time);
  for (const std::size_t piece : order) {
    const auto ready = static_cast<double>(pieces[piece].ready);
    while (ready > under_way.now() || !under_way.has_room(credit_bytes)) {
      double arrival = kNever;
      if (ready > under_way.now()) {
        arrival = ready;
      }
      under_way.advance(arrival);
    }
    under_way.start(piece);
  }
  std::vector<Picoseconds> ends(pieces.size(), 0);
  for (std::size_t i = 0; i < order.size(); ++i) {
    ends[order[i]] = under_way.ends()[i];
  }
  return ends;
}

}  // namespace paceline::strategies
