// SPDX-License-Identifier: Apache-2.0
#include "paceline/strategies/send_queue.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "paceline/base/error.h"
#include "paceline/plan/issue_rule.h"
#include "paceline/strategies/concurrent_transfers.h"

namespace paceline::strategies {

namespace {

struct IssuedPieces {
  std::vector<std::size_t> order;  // indices of the pieces, in the order of their starts
  std::vector<Picoseconds> ends;   // ends of the pieces, in that order
};

/// Simulates the issue of the pieces, whose program order is `sequence`, in virtual time.
IssuedPieces simulate_issue(const std::vector<QueuedPiece>& pieces,
                            const std::vector<std::size_t>& sequence, IssueOrder order,
                            std::int64_t credit_bytes, const TransferTime& time) {
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
  ConcurrentTransfers wire(time.concurrent_collectives());
  std::vector<std::size_t> started;
  std::size_t ended = 0;
  Picoseconds now = 0;
  auto arrival = arrivals.begin();
  while (started.size() < pieces.size()) {
    for (; arrival != arrivals.end() && ready_at(*arrival) <= now; ++arrival) {
      queue.ready(*arrival);
    }
    if (const auto next = queue.next()) {
      queue.issue(*next);
      started.push_back(piece_of(*next));
      const std::int64_t bytes = pieces[started.back()].bytes;
      const Picoseconds start = time.is_one_by_one() ? 0 : time.start(bytes);
      wire.add(now, start, time(bytes) - start);
      continue;
    }
    now = std::min(arrival == arrivals.end() ? kEndOfTime : ready_at(*arrival), wire.next_time());
    PACELINE_CHECK(now < kEndOfTime);
    wire.advance(now);
    for (; ended < wire.ended().size(); ++ended) {
      queue.end(pieces[started[wire.ended()[ended]]].bytes);
    }
  }
  return {std::move(started), wire.ends()};
}

}  // namespace

std::vector<std::size_t> starting_order(const std::vector<QueuedPiece>& pieces,
                                        std::int64_t credit_bytes, const TransferTime& time) {
  std::vector<std::size_t> sequence(pieces.size());
  std::iota(sequence.begin(), sequence.end(), std::size_t{0});
  return simulate_issue(pieces, sequence, IssueOrder::kPriority, credit_bytes, time).order;
}

std::vector<Picoseconds> ends_in_order(const std::vector<QueuedPiece>& pieces,
                                       const std::vector<std::size_t>& order,
                                       std::int64_t credit_bytes, const TransferTime& time) {
  const IssuedPieces played =
      simulate_issue(pieces, order, IssueOrder::kProgram, credit_bytes, time);
  std::vector<Picoseconds> ends(pieces.size(), 0);
  for (std::size_t i = 0; i < order.size(); ++i) {
    ends[order[i]] = played.ends[i];
  }
  return ends;
}

}  // namespace paceline::strategies
