// SPDX-License-Identifier: Apache-2.0
#include "paceline/execution/issue_queue.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <random>
#include <set>
#include <vector>

#include <gtest/gtest.h>

namespace paceline::execution {
namespace {

using plan::OpRef;

plan::Communicator group(plan::Order order, std::int64_t credit) {
  return {
      .name = "g", .members = {0, 1}, .order = order, .credit_bytes = credit};
}

TEST(IssueQueue, ProgramOrderWaitsForTheFirst) {
  IssueQueue queue(group(plan::Order::kProgram, 1000), true);
  queue.push({0, 1}, true, 5, 10);
  queue.push({0, 2}, true, 0, 10);
  const auto only_second = [](OpRef ref) { return ref.op == 2; };
  EXPECT_FALSE(queue.pop(only_second).has_value());
  const auto all = [](OpRef) { return true; };
  EXPECT_EQ(queue.pop(all), (OpRef{0, 1}));
  EXPECT_EQ(queue.pop(all), (OpRef{0, 2}));
  EXPECT_FALSE(queue.pop(all).has_value());
}

TEST(IssueQueue, CreditHoldsBackUntilBytesHaveEnded) {
  IssueQueue queue(group(plan::Order::kProgram, 15), true);
  const auto all = [](OpRef) { return true; };
  for (const plan::OpIndex op : {1, 2, 3}) {
    queue.push({0, op}, true, 0, 10);
  }
  EXPECT_TRUE(queue.pop(all).has_value());
  EXPECT_TRUE(queue.pop(all).has_value()) << "10 of 15: one more may exceed it";
  EXPECT_FALSE(queue.pop(all).has_value());
  queue.end(10);
  EXPECT_TRUE(queue.pop(all).has_value());
}

TEST(IssueQueue, WhatCountsNothingIsNotHeldBack) {
  IssueQueue queue(group(plan::Order::kPriority, 10), true);
  const auto all = [](OpRef) { return true; };
  queue.push({0, 1}, true, 0, 10);
  queue.push({0, 2}, true, 1, 10);
  queue.push({0, 3}, true, 2, 0);
  EXPECT_EQ(queue.pop(all), (OpRef{0, 1}));
  EXPECT_EQ(queue.pop(all), (OpRef{0, 3}));
  EXPECT_FALSE(queue.pop(all).has_value());
}

TEST(IssueQueue, TheFirstMemberPicksTheMostUrgentReadyOp) {
  IssueQueue queue(group(plan::Order::kPriority, 1000), true);
  queue.push({0, 1}, true, 5, 10);
  queue.push({0, 2}, true, 1, 10);
  queue.push({0, 3}, true, 1, 10);
  queue.push({1, 0}, true, 0, 10);
  std::set<OpRef> ready{{0, 1}, {0, 3}, {0, 2}};
  const auto is_ready = [&](OpRef ref) { return ready.contains(ref); };
  EXPECT_TRUE(queue.picks());
  EXPECT_FALSE(queue.ask());
  EXPECT_EQ(queue.pop(is_ready), (OpRef{0, 2}));
  ready.insert({1, 0});
  EXPECT_EQ(queue.pop(is_ready), (OpRef{1, 0})) << "the next step overtakes";
  EXPECT_EQ(queue.pop(is_ready), (OpRef{0, 3}));
  EXPECT_EQ(queue.pop(is_ready), (OpRef{0, 1}));
}

TEST(IssueQueue, TheOthersFollowItsPicks) {
  IssueQueue queue(group(plan::Order::kPriority, 1000), false);
  const auto all = [](OpRef) { return true; };
  const auto only_1 = [](OpRef ref) { return ref.op == 1; };
  queue.push({0, 1}, true, 0, 10);
  queue.push({0, 2}, true, 1, 10);
  EXPECT_FALSE(queue.pop(only_1).has_value()) << "no pick is known";
  EXPECT_TRUE(queue.ask());
  EXPECT_FALSE(queue.ask()) << "one at a time";
  queue.follow({0, 2});
  EXPECT_FALSE(queue.pop(only_1).has_value()) << "the picked op is not ready";
  EXPECT_EQ(queue.pop(all), (OpRef{0, 2}));
  EXPECT_TRUE(queue.ask());
  queue.follow({0, 1});
  EXPECT_FALSE(queue.ask()) << "as many as there are ops";
  EXPECT_EQ(queue.pop(all), (OpRef{0, 1}));
}

/// Ops get ready and end in random order, the same for this queue and for the
/// rule, which the simulator asks directly.
TEST(IssueQueue, IssuesInTheOrderOfTheSimulatorsQueue) {
  constexpr int kOps = 54, kOpsPerStep = 9;
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    std::mt19937 rng(seed);
    const auto random = [&](std::uint32_t count) {
      return static_cast<std::int64_t>(rng() % count);
    };
    plan::Communicator on =
        group(seed % 2 == 0 ? plan::Order::kProgram : plan::Order::kPriority,
              1 + random(40));
    IssueQueue queue(on, true);
    plan::IssueQueue simulated(on.order, on.credit_bytes, true);
    std::vector<OpRef> refs;
    std::vector<std::int64_t> bytes;
    for (int n = 0; n < kOps; ++n) {
      refs.push_back({n / kOpsPerStep, 2 * (n % kOpsPerStep)});
      bytes.push_back(5 * random(4));
      const auto priority = static_cast<std::int32_t>(random(5));
      queue.push(refs.back(), true, priority, bytes.back());
      simulated.add(true, priority, bytes.back());
    }
    std::vector<std::size_t> waiting(kOps), in_flight;
    std::iota(waiting.begin(), waiting.end(), std::size_t{0});
    std::ranges::shuffle(waiting, rng);
    std::set<OpRef> ready;
    for (int issued = 0; issued < kOps;) {
      if (!waiting.empty() && (in_flight.empty() || random(2) == 0)) {
        ready.insert(refs[waiting.back()]);
        simulated.ready(static_cast<std::int64_t>(waiting.back()));
        waiting.pop_back();
      } else {
        ASSERT_FALSE(in_flight.empty());
        std::ranges::shuffle(in_flight, rng);
        queue.end(bytes[in_flight.back()]);
        simulated.end(bytes[in_flight.back()]);
        in_flight.pop_back();
      }
      const auto is_ready = [&](OpRef ref) { return ready.contains(ref); };
      for (auto next = simulated.next(); next; next = simulated.next()) {
        const auto number = static_cast<std::size_t>(*next);
        ASSERT_EQ(queue.pop(is_ready), refs[number]);
        simulated.issue(*next);
        in_flight.push_back(number);
        ++issued;
      }
      ASSERT_EQ(queue.pop(is_ready), std::nullopt);
    }
  }
}

}  // namespace
}  // namespace paceline::execution
