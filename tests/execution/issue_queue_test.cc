// SPDX-License-Identifier: Apache-2.0
#include "paceline/execution/issue_queue.h"

#include <set>

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
  queue.push({0, 1}, 5, 10);
  queue.push({0, 2}, 0, 10);
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
    queue.push({0, op}, 0, 10);
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
  queue.push({0, 1}, 0, 10);
  queue.push({0, 2}, 1, 10);
  queue.push({0, 3}, 2, 0);
  EXPECT_EQ(queue.pop(all), (OpRef{0, 1}));
  EXPECT_EQ(queue.pop(all), (OpRef{0, 3}));
  EXPECT_FALSE(queue.pop(all).has_value());
}

TEST(IssueQueue, TheFirstMemberPicksTheMostUrgentReadyOp) {
  IssueQueue queue(group(plan::Order::kPriority, 1000), true);
  queue.push({0, 1}, 5, 10);
  queue.push({0, 2}, 1, 10);
  queue.push({0, 3}, 1, 10);
  queue.push({1, 0}, 0, 10);
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
  queue.push({0, 1}, 0, 10);
  queue.push({0, 2}, 1, 10);
  EXPECT_FALSE(queue.pop(all).has_value());
  EXPECT_TRUE(queue.ask());
  EXPECT_FALSE(queue.ask()) << "one at a time";
  queue.follow({0, 2});
  EXPECT_FALSE(queue.pop([](OpRef ref) { return ref.op == 1; }).has_value());
  EXPECT_EQ(queue.pop(all), (OpRef{0, 2}));
  EXPECT_TRUE(queue.ask());
  queue.follow({0, 1});
  EXPECT_FALSE(queue.ask()) << "as many as there are ops";
  EXPECT_EQ(queue.pop(all), (OpRef{0, 1}));
}

}  // namespace
}  // namespace paceline::execution
