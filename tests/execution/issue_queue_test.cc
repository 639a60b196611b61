// SPDX-License-Identifier: Apache-2.0
#include "paceline/execution/issue_queue.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace paceline::execution {
namespace {

using plan::OpRef;

plan::Communicator group(plan::IssueOrder order, std::int64_t credit) {
  return {.name = "g", .members = {0, 1}, .order = order, .credit_bytes = credit};
}

std::optional<OpRef> pop(IssueQueue& queue, const IssueQueue::IsReady& ready) {
  const auto next = queue.next(ready);
  if (next) {
    EXPECT_EQ(queue.issue(), next);
  }
  return next;
}

TEST(IssueQueue, ProgramOrderWaitsForTheFirst) {
  IssueQueue queue(group(plan::IssueOrder::kProgram, 1000), true);
  queue.push({0, 1}, true, 5, 10);
  queue.push({0, 2}, true, 0, 10);
  const auto only_second = [](OpRef ref) { return ref.op == 2; };
  EXPECT_FALSE(pop(queue, only_second).has_value());
  const auto all = [](OpRef) { return true; };
  EXPECT_EQ(pop(queue, all), (OpRef{0, 1}));
  EXPECT_EQ(pop(queue, all), (OpRef{0, 2}));
  EXPECT_FALSE(pop(queue, all).has_value());
}

TEST(IssueQueue, CreditHoldsBackUntilBytesHaveEnded) {
  IssueQueue queue(group(plan::IssueOrder::kProgram, 15), true);
  const auto all = [](OpRef) { return true; };
  for (const plan::OpIndex op : {1, 2, 3}) {
    queue.push({0, op}, true, 0, 10);
  }
  EXPECT_TRUE(pop(queue, all).has_value());
  EXPECT_TRUE(pop(queue, all).has_value()) << "10 of 15: one more may exceed it";
  EXPECT_FALSE(pop(queue, all).has_value());
  queue.end(10);
  EXPECT_TRUE(pop(queue, all).has_value());
}

TEST(IssueQueue, WhatCountsNothingIsNotHeldBack) {
  IssueQueue queue(group(plan::IssueOrder::kPriority, 10), true);
  const auto all = [](OpRef) { return true; };
  queue.push({0, 1}, true, 0, 10);
  queue.push({0, 2}, true, 1, 10);
  queue.push({0, 3}, true, 2, 0);
  EXPECT_EQ(pop(queue, all), (OpRef{0, 1}));
  EXPECT_EQ(pop(queue, all), (OpRef{0, 3}));
  EXPECT_FALSE(pop(queue, all).has_value());
}

TEST(IssueQueue, TheFirstMemberPicksTheMostUrgentReadyOp) {
  IssueQueue queue(group(plan::IssueOrder::kPriority, 1000), true);
  queue.push({0, 1}, true, 5, 10);
  queue.push({0, 2}, true, 1, 10);
  queue.push({0, 3}, true, 1, 10);
  queue.push({1, 0}, true, 0, 10);
  std::set<OpRef> ready{{0, 1}, {0, 3}, {0, 2}};
  const auto is_ready = [&](OpRef ref) { return ready.contains(ref); };
  EXPECT_TRUE(queue.picks());
  EXPECT_FALSE(queue.request_pick());
  EXPECT_EQ(pop(queue, is_ready), (OpRef{0, 2}));
  ready.insert({1, 0});
  EXPECT_EQ(pop(queue, is_ready), (OpRef{1, 0})) << "the next step overtakes";
  EXPECT_EQ(pop(queue, is_ready), (OpRef{0, 3}));
  EXPECT_EQ(pop(queue, is_ready), (OpRef{0, 1}));
}

TEST(IssueQueue, TheOthersFollowItsPicks) {
  IssueQueue queue(group(plan::IssueOrder::kPriority, 1000), false);
  const auto all = [](OpRef) { return true; };
  const auto only_1 = [](OpRef ref) { return ref.op == 1; };
  queue.push({0, 1}, true, 0, 10);
  queue.push({0, 2}, true, 1, 10);
  EXPECT_FALSE(pop(queue, only_1).has_value()) << "no pick is known";
  EXPECT_TRUE(queue.request_pick());
  EXPECT_FALSE(queue.request_pick()) << "one at a time";
  queue.follow(1);
  EXPECT_FALSE(pop(queue, only_1).has_value()) << "the picked op is not ready";
  EXPECT_EQ(pop(queue, all), (OpRef{0, 2}));
  EXPECT_TRUE(queue.request_pick());
  queue.follow(0);
  EXPECT_FALSE(queue.request_pick()) << "as many as there are ops";
  EXPECT_EQ(pop(queue, all), (OpRef{0, 1}));
}

constexpr std::size_t kOpsPerStep = 9, kRandomOps = 6 * kOpsPerStep;

struct RandomOp {
  OpRef ref;
  bool collective = true;
  std::int32_t priority = 0;
  std::int64_t bytes = 0;
};

/// A member of a communicator twice: the queue of the runtime, and the rule as the simulator asks
/// it.
struct Member {
  Member(const plan::Communicator& on, bool leads)
      : queue(on, leads), simulated(on.order, on.credit_bytes, leads) {}

  void open_step(const std::vector<RandomOp>& ops) {
    for (std::size_t i = 0; i < kOpsPerStep; ++i) {
      const RandomOp& op = ops[opened];
      queue.push(op.ref, op.collective, op.priority, op.bytes);
      simulated.add(op.collective, op.priority, op.bytes);
      waiting.push_back(opened++);
    }
  }

  IssueQueue queue;
  plan::IssueRule simulated;
  std::size_t opened = 0;
  std::vector<std::size_t> waiting, in_flight;
  std::set<OpRef> ready;
};

/// Issues what both queues let go; returns the picks that the other member follows, by number among
/// collectives.
std::vector<IssueQueue::Pick> issue(Member& member, const std::vector<RandomOp>& ops) {
  std::vector<IssueQueue::Pick> picks;
  const auto is_ready = [&](OpRef ref) { return member.ready.contains(ref); };
  for (auto next = member.simulated.next(); next; next = member.simulated.next()) {
    const auto number = static_cast<std::size_t>(*next);
    EXPECT_EQ(pop(member.queue, is_ready), ops[number].ref);
    if (member.simulated.picks() && ops[number].collective) {
      picks.push_back(member.simulated.collective_number(*next));
    }
    member.simulated.issue(*next);
    member.in_flight.push_back(number);
  }
  EXPECT_EQ(pop(member.queue, is_ready), std::nullopt);
  return picks;
}

/// Steps open, ops get ready and end in random order, the same for both queues of a member; one
/// member follows the other.
class RandomQueues {
 public:
  explicit RandomQueues(std::uint32_t seed) : rng_(seed) {}

  void run(plan::IssueOrder order) {
    const std::vector<RandomOp> ops = random_ops(order);
    const auto on = group(order, static_cast<std::int64_t>(1 + random(40)));
    std::array members{Member(on, true), Member(on, false)};
    for (int turn = 0; ended_ < 2 * kRandomOps && turn < 100'000; ++turn) {
      const std::size_t one = random(2);
      advance(members[one], ops);
      for (const IssueQueue::Pick pick : issue(members[one], ops)) {
        members[1].queue.follow(pick);
        members[1].simulated.follow(pick);
      }
      ASSERT_FALSE(::testing::Test::HasFailure()) << "turn " << turn;
    }
    EXPECT_EQ(ended_, 2 * kRandomOps);
  }

 private:
  std::size_t random(std::size_t count) { return rng_() % count; }

  std::vector<RandomOp> random_ops(plan::IssueOrder order) {
    std::vector<RandomOp> ops;
    for (std::size_t n = 0; n < kRandomOps; ++n) {
      ops.push_back({.ref = {static_cast<plan::Step>(n / kOpsPerStep),
                             static_cast<plan::OpIndex>(2 * (n % kOpsPerStep))},
                     .collective = order != plan::IssueOrder::kAsReady && random(4) > 0,
                     .priority = static_cast<std::int32_t>(random(5)),
                     .bytes = static_cast<std::int64_t>(5 * random(4))});
    }
    return ops;
  }

  /// Opens a step, makes an op ready or ends one.
  void advance(Member& member, const std::vector<RandomOp>& ops) {
    if (member.opened < kRandomOps && random(6) == 0) {
      member.open_step(ops);
    } else if (!member.waiting.empty() && random(2) == 0) {
      std::swap(member.waiting[random(member.waiting.size())], member.waiting.back());
      member.ready.insert(ops[member.waiting.back()].ref);
      member.simulated.ready(static_cast<std::int64_t>(member.waiting.back()));
      member.waiting.pop_back();
    } else if (!member.in_flight.empty()) {
      std::swap(member.in_flight[random(member.in_flight.size())], member.in_flight.back());
      const std::int64_t bytes = ops[member.in_flight.back()].bytes;
      member.queue.end(bytes);
      member.simulated.end(bytes);
      member.in_flight.pop_back();
      ++ended_;
    }
  }

  std::mt19937 rng_;
  std::size_t ended_ = 0;
};

TEST(IssueQueue, IssuesInTheOrderOfTheSimulatorsQueue) {
  for (std::uint32_t seed = 0; seed < 100; ++seed) {
    for (const plan::IssueOrder order :
         {plan::IssueOrder::kProgram, plan::IssueOrder::kPriority, plan::IssueOrder::kAsReady}) {
      RandomQueues(seed).run(order);
      ASSERT_FALSE(HasFailure()) << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace paceline::execution
