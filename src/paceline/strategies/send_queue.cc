// SPDX-License-Identifier: Apache-2.0
#include "paceline/strategies/send_queue.h"

#include <algorithm>
#include <numeric>

#include "paceline/base/error.h"
#include "paceline/plan/issue_rule.h"
#include "paceline/strategies/concurrent_transfers.h"

namespace paceline::strategies {

namespace {

/// The pieces that have started.  A piece that ends frees credit in `queue`.
class TransfersInFlight {
 public:
  TransfersInFlight(const std::vector<QueuedPiece>& pieces, const TransferTime& time,
                    IssueRule& queue)
      : pieces_(pieces), time_(time), queue_(queue), wire_(time.concurrent_collectives()) {}

  void start(std::size_t piece) {
    const std::int64_t bytes = pieces_[piece].bytes;
    const Picoseconds start = time_.one_by_one() ? 0 : time_.start(bytes);
    wire_.add(now_, start, time_(bytes) - start);
    order_.push_back(piece);
  }

  /// Advances to the next event of the wire, but not beyond `arrival`.
  void advance(Picoseconds arrival) {
    now_ = std::min(arrival, wire_.next_time());
    PACELINE_CHECK(now_ < kEndOfTime);
    wire_.advance(now_);
    for (; ended_ < wire_.ended().size(); ++ended_) {
      queue_.end(pieces_[order_[wire_.ended()[ended_]]].bytes);
    }
  }

  Picoseconds now() const { return now_; }
  const std::vector<std::size_t>& order() const { return order_; }
  const std::vector<Picoseconds>& ends() { return wire_.ends(); }

 private:
  const std::vector<QueuedPiece>& pieces_;
  const TransferTime& time_;
  IssueRule& queue_;
  ConcurrentTransfers wire_;
  std::vector<std::size_t> order_;
  std::size_t ended_ = 0;
  Picoseconds now_ = 0;
};

struct IssuedPieces {
  std::vector<std::size_t> order;  // of their starts
  std::vector<Picoseconds> ends;   // ends of the pieces, in that order
};

/// Simulates the issue of the pieces, whose program order is `sequence`, in virtual time.
IssuedPieces play(const std::vector<QueuedPiece>& pieces, const std::vector<std::size_t>& sequence,
                  IssueOrder order, std::int64_t credit_bytes, const TransferTime& time) {
  IssueRule queue(order, std::max<std::int64_t>(credit_bytes, 1), true);
  std::vector<IssueRule::Number> arrivals;
  for (const std::size_t piece : sequence) {
    arrivals.push_back(queue.add(true, pieces[piece].priority, pieces[piece].bytes));
  }
  const auto piece_of = [&](IssueRule::Number number) {
    return sequence[static_cast<std::size_t>(number)];
  };
  const auto ready_at = [&](IssueRule::Number number) { return pieces[piece_of(number)].ready; };
  std::ranges::stable_sort(arrivals, {}, ready_at);
  TransfersInFlight under_way(pieces, time, queue);
  auto arrival = arrivals.begin();
  while (under_way.order().size() < pieces.size()) {
    for (; arrival != arrivals.end() && ready_at(*arrival) <= under_way.now(); ++arrival) {
      queue.ready(*arrival);
    }
    if (const auto next = queue.next()) {
      queue.issue(*next);
      under_way.start(piece_of(*next));
    } else {
      under_way.advance(arrival == arrivals.end() ? kEndOfTime : ready_at(*arrival));
    }
  }
  return {under_way.order(), under_way.ends()};
}

}  // namespace

std::vector<std::size_t> starting_order(const std::vector<QueuedPiece>& pieces,
                                        std::int64_t credit_bytes, const TransferTime& time) {
  std::vector<std::size_t> sequence(pieces.size());
  std::iota(sequence.begin(), sequence.end(), std::size_t{0});
  return play(pieces, sequence, IssueOrder::kPriority, credit_bytes, time).order;
}

std::vector<Picoseconds> ends_in_order(const std::vector<QueuedPiece>& pieces,
                                       const std::vector<std::size_t>& order,
                                       std::int64_t credit_bytes, const TransferTime& time) {
  const IssuedPieces played = play(pieces, order, IssueOrder::kProgram, credit_bytes, time);
  std::vector<Picoseconds> ends(pieces.size(), 0);
  for (std::size_t i = 0; i < order.size(); ++i) {
    ends[order[i]] = played.ends[i];
  }
  return ends;
}

}  // namespace paceline::strategies
