// SPDX-License-Identifier: Apache-2.0
#include "paceline/execution/scheduler.h"

#include <gtest/gtest.h>

#include "execution/tiny_plan.h"

namespace paceline::execution {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace)
using plan::OpRef;

class SchedulerTest : public ::testing::Test {
 protected:
  Scheduler make() const { return {tiny.input.model, tiny.setup, 0}; }

  /// Forward and backward of `step`.
  static void compute(Scheduler& scheduler, plan::Step step) {
    for (const auto op : {kForwardFirst, kForwardSecond, kBackwardSecond, kBackwardFirst}) {
      scheduler.complete({step, op});
    }
  }

  TinyPlan tiny;
};

TEST_F(SchedulerTest, EachOpStartsWhenTheOpsThatItReadsFromAreComplete) {
  Scheduler scheduler = make();
  scheduler.open(0, tiny.plan());
  EXPECT_EQ(scheduler.take_communication(0), std::nullopt);
  scheduler.complete({0, kForwardFirst});
  scheduler.complete({0, kForwardSecond});
  scheduler.complete({0, kBackwardSecond});
  EXPECT_EQ(scheduler.take_communication(0), (OpRef{0, kReduceSecond}));
  EXPECT_EQ(scheduler.take_communication(0), std::nullopt);
  EXPECT_EQ(scheduler.take_kernel(), std::nullopt);
  scheduler.complete({0, kReduceSecond});
  EXPECT_EQ(scheduler.take_kernel(), (OpRef{0, kUpdateSecond}));
  EXPECT_EQ(scheduler.take_kernel(), std::nullopt);
}

TEST_F(SchedulerTest, TheNextStepsForwardWaitsForItsOwnUpdateOnly) {
  Scheduler scheduler = make();
  scheduler.open(0, tiny.plan());
  compute(scheduler, 0);
  scheduler.open(1, tiny.plan());
  for (const auto op : {kReduceSecond, kReduceFirst}) {
    ASSERT_EQ(scheduler.take_communication(0), (OpRef{0, op}));
  }
  scheduler.complete({0, kReduceFirst});
  ASSERT_EQ(scheduler.take_kernel(), (OpRef{0, kUpdateFirst}));
  EXPECT_FALSE(scheduler.frontier().is_ready({1, kForwardFirst}));
  scheduler.complete({0, kUpdateFirst});
  EXPECT_TRUE(scheduler.frontier().is_ready({1, kForwardFirst}));
  EXPECT_FALSE(scheduler.frontier().is_ready({1, kForwardSecond}));
}

TEST_F(SchedulerTest, KernelsAreTakenBySmallestPriority) {
  plan::CommPlan plan = tiny.ops();
  plan.ops[kUpdateFirst].priority = 1;
  plan.ops[kUpdateSecond].priority = 2;
  Scheduler scheduler = make();
  scheduler.open(0, std::make_shared<const plan::CommPlan>(plan));
  compute(scheduler, 0);
  while (const auto op = scheduler.take_communication(0)) {
    scheduler.complete(*op);
  }
  EXPECT_EQ(scheduler.ready_kernels(), 2U);
  EXPECT_EQ(scheduler.take_kernel(), (OpRef{0, kUpdateFirst}));
  EXPECT_EQ(scheduler.take_kernel(), (OpRef{0, kUpdateSecond}));
}

TEST_F(SchedulerTest, CommunicatorsIssueByPriorityThenInProgramOrder) {
  tiny.setup.communicators.push_back({.name = "other", .members = {0, 1}});
  for (const bool second_is_urgent : {false, true}) {
    plan::CommPlan plan = tiny.ops();
    const auto put = [&](plan::OpIndex op, std::int32_t on) {
      std::get<plan::Collective>(plan.ops[static_cast<std::size_t>(op)].work).on =
          plan::CommunicatorId{on};
    };
    put(kReduceSecond, 1);
    put(kReduceFirst, 0);
    plan.ops[kReduceSecond].priority = 1;
    plan.ops[kReduceFirst].priority = second_is_urgent ? 0 : 1;
    Scheduler scheduler = make();
    scheduler.open(0, std::make_shared<const plan::CommPlan>(plan));
    compute(scheduler, 0);
    std::vector<OpRef> issued;
    while (const auto op = scheduler.take_communication(0)) {
      issued.push_back(*op);
    }
    const OpRef first{0, kReduceFirst}, second{0, kReduceSecond};
    EXPECT_EQ(issued,
              second_is_urgent ? (std::vector{first, second}) : (std::vector{second, first}));
  }
}

TEST_F(SchedulerTest, KernelsThatCommunicationWaitsForAreUrgent) {
  Scheduler scheduler = make();
  scheduler.open(0, tiny.plan_with_broadcast());
  compute(scheduler, 0);
  while (const auto op = scheduler.take_communication(0)) {
    scheduler.complete(*op);
  }
  EXPECT_EQ(scheduler.ready_kernels(), 2U);
  EXPECT_EQ(scheduler.urgent_kernels(), 1U);
  EXPECT_EQ(scheduler.take_kernel(true), (OpRef{0, kUpdateFirst}));
  EXPECT_EQ(scheduler.take_kernel(true), std::nullopt);
  EXPECT_EQ(scheduler.take_kernel(), (OpRef{0, kUpdateSecond}));
}

TEST_F(SchedulerTest, AKernelIsUrgentByWayOfAnotherKernel) {
  plan::CommPlan plan = *tiny.plan_with_broadcast();
  const plan::Slice first = tiny.setup.parameters[0].value;
  const plan::Slice second = tiny.setup.parameters[1].value;
  plan.ops.insert(plan.ops.end() - 1,
                  plan::Op{plan::Kernel{
                      .name = "copy", .reads = {{second}}, .writes = {{first}}, .numbers = {}}});
  Scheduler scheduler = make();
  scheduler.open(0, std::make_shared<const plan::CommPlan>(plan));
  compute(scheduler, 0);
  while (const auto op = scheduler.take_communication(0)) {
    scheduler.complete(*op);
  }
  EXPECT_EQ(scheduler.urgent_kernels(), 2U);
  EXPECT_EQ(scheduler.take_kernel(), (OpRef{0, kUpdateSecond}));
}

TEST_F(SchedulerTest, ACompleteCollectiveReturnsItsCredit) {
  tiny.setup.communicators[0].credit_bytes = 8;  // one all-reduce
  Scheduler scheduler = make();
  scheduler.open(0, tiny.plan());
  compute(scheduler, 0);
  ASSERT_EQ(scheduler.take_communication(70), (OpRef{0, kReduceSecond}));
  EXPECT_EQ(scheduler.take_communication(80), std::nullopt);
  EXPECT_EQ(scheduler.in_flight(), (std::map<OpRef, std::int64_t>{{{0, kReduceSecond}, 70}}));
  scheduler.complete({0, kReduceSecond});
  EXPECT_EQ(scheduler.take_communication(90), (OpRef{0, kReduceFirst}));
}

TEST_F(SchedulerTest, OpsOfAPerformerAreNotIssued) {
  Scheduler scheduler = make();
  EXPECT_EQ(scheduler.first_pending_op_of_other_owner(), std::nullopt);
  scheduler.open(0, tiny.plan_with_other_owner());
  compute(scheduler, 0);
  EXPECT_EQ(scheduler.take_communication(0), std::nullopt);
  EXPECT_EQ(scheduler.first_pending_op_of_other_owner(), (OpRef{0, kReduceSecond}));
  scheduler.complete({0, kReduceSecond});
  EXPECT_EQ(scheduler.first_pending_op_of_other_owner(), (OpRef{0, kReduceFirst}));
  scheduler.complete({0, kReduceFirst});
  EXPECT_EQ(scheduler.first_pending_op_of_other_owner(), std::nullopt);
  EXPECT_EQ(scheduler.take_kernel(), (OpRef{0, kUpdateSecond}));
}

}  // namespace
}  // namespace paceline::execution
