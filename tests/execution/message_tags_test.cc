// SPDX-License-Identifier: Apache-2.0
#include "paceline/execution/message_tags.h"

#include <gtest/gtest.h>

namespace paceline::execution {
namespace {

using plan::CommunicatorId;

plan::Op exchange(CommunicatorId on, std::vector<plan::Message> sends,
                  std::vector<plan::Message> receives) {
  return {plan::Exchange{on, std::move(sends), std::move(receives)}};
}

TEST(MessageTags, NumberTheMessagesOfAPairInProgramOrder) {
  const CommunicatorId push{0}, pull{1};
  plan::CommPlan plan;
  plan.ops = {exchange(push, {{1, {}}, {2, {}}, {1, {}}}, {}),
              {plan::Forward{}},
              exchange(push, {{1, {}}}, {{1, {}}}),
              exchange(pull, {{1, {}}}, {})};
  MessageTags tags;
  tags.open(0, plan);
  tags.open(1, plan);
  // Asked for out of order.
  EXPECT_EQ(tags.take({1, 2}).sends, std::vector<int>{5});
  EXPECT_EQ(tags.take({1, 0}).sends, (std::vector<int>{3, 1, 4}));
  EXPECT_EQ(tags.take({0, 0}).sends, (std::vector<int>{0, 0, 1}));
  const auto both = tags.take({0, 2});
  EXPECT_EQ(both.sends, std::vector<int>{2});
  EXPECT_EQ(both.receives, std::vector<int>{0}) << "counted apart";
  EXPECT_EQ(tags.take({1, 3}).sends, std::vector<int>{1}) << "by communicator";
}

TEST(MessageTags, BeginAnewBelowEveryEnginesLimit) {
  plan::CommPlan plan;
  plan.ops = {exchange(CommunicatorId{0}, {{1, {}}, {1, {}}}, {})};
  MessageTags tags;
  constexpr plan::Step kSteps = 1 << 19;
  for (plan::Step step = 0; step < kSteps; ++step) {
    tags.open(step, plan);
    const auto sends = tags.take({step, 0}).sends;
    if (step + 1 == kSteps) {
      EXPECT_EQ(sends, (std::vector<int>{(1 << 20) - 2, (1 << 20) - 1}));
    }
  }
  tags.open(kSteps, plan);
  EXPECT_EQ(tags.take({kSteps, 0}).sends, (std::vector<int>{0, 1}));
}

}  // namespace
}  // namespace paceline::execution
