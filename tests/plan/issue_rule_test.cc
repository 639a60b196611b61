// SPDX-License-Identifier: Apache-2.0
#include "paceline/plan/issue_rule.h"

#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

namespace paceline::plan {
namespace {

using Number = IssueRule::Number;
constexpr std::int64_t kUnlimited = std::numeric_limits<std::int64_t>::max();

void add_ready(IssueRule& queue, std::int32_t priority, std::int64_t bytes) {
  queue.ready(queue.add(true, priority, bytes));
}

/// Issues all that may be issued.
std::vector<Number> issue_all(IssueRule& queue) {
  std::vector<Number> issued;
  while (const auto next = queue.next()) {
    queue.issue(*next);
    issued.push_back(*next);
  }
  return issued;
}

TEST(IssueRule, ProgramOrderWaitsForTheFirst) {
  IssueRule queue(IssueOrder::kProgram, kUnlimited, true);
  queue.add(true, 5, 10);
  add_ready(queue, 0, 10);
  EXPECT_EQ(queue.next(), std::nullopt);
  EXPECT_EQ(queue.op_required_before(1), 0);
  queue.ready(0);
  EXPECT_EQ(issue_all(queue), (std::vector<Number>{0, 1}));
}

TEST(IssueRule, CreditHoldsBackUntilBytesHaveEnded) {
  IssueRule queue(IssueOrder::kProgram, 15, true);
  for (int i = 0; i < 3; ++i) {
    add_ready(queue, 0, 10);
  }
  EXPECT_EQ(issue_all(queue), (std::vector<Number>{0, 1})) << "10 of 15: one more may exceed it";
  EXPECT_TRUE(queue.is_held_by_credit(2));
  queue.end(10);
  EXPECT_EQ(issue_all(queue), (std::vector<Number>{2}));
}

TEST(IssueRule, WhatCountsNothingIsNotHeldBack) {
  IssueRule queue(IssueOrder::kPriority, 10, true);
  add_ready(queue, 0, 10);
  add_ready(queue, 1, 10);
  add_ready(queue, 2, 0);
  EXPECT_EQ(issue_all(queue), (std::vector<Number>{0, 2}));
}

TEST(IssueRule, ThoseWhoFollowIssueExchangesByThemselves) {
  IssueRule queue(IssueOrder::kPriority, kUnlimited, false);
  add_ready(queue, 0, 10);
  queue.ready(queue.add(false, 7, 10));
  EXPECT_EQ(issue_all(queue), (std::vector<Number>{1}));
  queue.follow(0);
  EXPECT_EQ(issue_all(queue), (std::vector<Number>{0}));
}

TEST(IssueRule, APickMayComeBeforeItsOp) {
  IssueRule queue(IssueOrder::kPriority, kUnlimited, false);
  add_ready(queue, 0, 10);
  queue.follow(1);
  queue.follow(0);
  EXPECT_EQ(queue.next(), std::nullopt);
  add_ready(queue, 9, 10);
  EXPECT_EQ(issue_all(queue), (std::vector<Number>{1, 0}));
}

/// The rule, written down once more without any care for speed.
class Reference {
 public:
  struct Op {
    bool collective = false;
    std::int32_t priority = 0;
    std::int64_t bytes = 0;
    bool ready = false, issued = false;
  };

  Reference(IssueOrder order, std::int64_t credit, bool leads)
      : order_(order), credit_(credit), leads_(leads) {}

  std::vector<Op> ops;
  std::vector<Number> picks;  // of collectives
  std::int64_t in_flight = 0;

  std::optional<Number> next() const {
    std::optional<std::tuple<std::int32_t, Number>> best;
    for (std::size_t i = 0; i < ops.size(); ++i) {
      const Op& op = ops[i];
      const std::tuple<std::int32_t, Number> key(order_ == IssueOrder::kProgram ? 0 : op.priority,
                                                 i);
      const bool held = op.bytes > 0 && in_flight >= credit_;
      if (!op.issued && op.ready && !held && is_its_turn(i) && (!best || key < *best)) {
        best = key;
      }
    }
    return best ? std::optional(std::get<1>(*best)) : std::nullopt;
  }

  Number collective_number(std::size_t op) const {
    return std::count_if(ops.begin(), ops.begin() + static_cast<std::ptrdiff_t>(op),
                         [](const Op& it) { return it.collective; });
  }

 private:
  bool is_its_turn(std::size_t op) const {
    if (order_ == IssueOrder::kProgram) {
      return std::all_of(ops.begin(), ops.begin() + static_cast<std::ptrdiff_t>(op),
                         [](const Op& it) { return it.issued; });
    }
    if (leads_ || !ops[op].collective) {
      return true;
    }
    const auto issued = static_cast<std::size_t>(
        std::ranges::count_if(ops, [](const Op& it) { return it.collective && it.issued; }));
    return issued < picks.size() && picks[issued] == collective_number(op);
  }

  IssueOrder order_;
  std::int64_t credit_;
  bool leads_;
};

/// A queue and its reference, which are told the same.
struct Pair {
  Pair(IssueOrder order, std::int64_t credit, bool leads)
      : queue(order, credit, leads), reference(order, credit, leads) {}

  IssueRule queue;
  Reference reference;
  std::vector<std::size_t> in_flight;

  void add(bool collective, std::int32_t priority, std::int64_t bytes) {
    const Number number = queue.add(collective, priority, bytes);
    ASSERT_EQ(number, static_cast<Number>(reference.ops.size()));
    reference.ops.push_back({collective, priority, bytes});
  }
  void ready(std::size_t op) {
    queue.ready(static_cast<Number>(op));
    reference.ops[op].ready = true;
  }
  void end(std::size_t place) {
    const std::int64_t bytes = reference.ops[in_flight[place]].bytes;
    queue.end(bytes);
    reference.in_flight -= bytes;
    in_flight.erase(in_flight.begin() + static_cast<std::ptrdiff_t>(place));
  }
  void follow(Number pick) {
    queue.follow(pick);
    reference.picks.push_back(pick);
  }
  /// The picks of collectives that are issued.
  std::vector<Number> issue() {
    std::vector<Number> picks;
    while (true) {
      const auto expected = reference.next();
      EXPECT_EQ(queue.next(), expected);
      if (!expected || testing::Test::HasFailure()) {
        return picks;
      }
      const auto op = static_cast<std::size_t>(*expected);
      if (reference.ops[op].collective) {
        picks.push_back(reference.collective_number(op));
        EXPECT_EQ(queue.collective_number(*expected), picks.back());
      }
      queue.issue(*expected);
      reference.ops[op].issued = true;
      reference.in_flight += reference.ops[op].bytes;
      in_flight.push_back(op);
    }
  }
};

class RandomIssue : public testing::TestWithParam<int> {};

// A leader and a member that follows, whose ops get ready and end in an order of their own.  Both
// issue every collective in the same order.
TEST_P(RandomIssue, FollowsTheRule) {
  std::mt19937 rng(static_cast<std::uint32_t>(GetParam()));
  const auto random = [&](int count) {
    return static_cast<std::size_t>(rng() % static_cast<unsigned>(count));
  };
  const IssueOrder order = GetParam() % 3 == 0 ? IssueOrder::kProgram : IssueOrder::kPriority;
  const std::int64_t credit =
      GetParam() % 5 == 0 ? kUnlimited : 1 + static_cast<std::int64_t>(random(40));
  std::vector<Pair> ranks{{order, credit, true}, {order, credit, false}};
  std::map<std::size_t, std::vector<std::size_t>> waiting;  // by rank: ops
  std::vector<std::vector<Number>> issued(2);               // collectives, by rank
  const std::size_t ops = 40;
  std::size_t ended = 0;
  for (int turn = 0; ended < 2 * ops && turn < 100'000; ++turn) {
    const std::size_t r = random(2);
    Pair& rank = ranks[r];
    auto& waits = waiting[r];
    if (rank.reference.ops.size() < ops && random(3) == 0) {
      // Ops are equal on both ranks, exchanges lie between other collectives.
      const std::size_t number = rank.reference.ops.size();
      std::mt19937 same(static_cast<std::uint32_t>(1000 * GetParam() + static_cast<int>(number)));
      rank.add(same() % 4 != 0, static_cast<std::int32_t>(same() % 5),
               static_cast<std::int64_t>(same() % 4) * 5);
      waits.push_back(number);
    } else if (!waits.empty() && random(2) == 0) {
      // The first of a few: what a leader has picked gets ready elsewhere too.
      const std::size_t place = random(static_cast<int>(std::min<std::size_t>(waits.size(), 4)));
      rank.ready(waits[place]);
      waits.erase(waits.begin() + static_cast<std::ptrdiff_t>(place));
    } else if (!rank.in_flight.empty()) {
      rank.end(random(static_cast<int>(rank.in_flight.size())));
      ++ended;
    }
    for (const Number pick : rank.issue()) {
      issued[r].push_back(pick);
      if (r == 0 && order == IssueOrder::kPriority) {
        ranks[1].follow(pick);
      }
    }
    ASSERT_FALSE(HasFailure()) << "turn " << turn;
  }
  EXPECT_EQ(ended, 2 * ops);
  EXPECT_EQ(issued[0], issued[1]);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomIssue, testing::Range(0, 300));

}  // namespace
}  // namespace paceline::plan
