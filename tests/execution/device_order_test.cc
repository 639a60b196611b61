// SPDX-License-Identifier: Apache-2.0
#include "paceline/execution/device_order.h"

#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "execution/logging_device.h"
#include "execution/tiny_plan.h"

namespace paceline::execution {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace)
using plan::OpRef;

class DeviceOrderTest : public ::testing::Test {
 protected:
  /// `ref` stands in a stream; returns the event behind it.
  std::shared_ptr<CountedEvent> enqueue(OpRef ref, bool computes, std::int64_t began_ns = 0) {
    auto event = std::make_shared<CountedEvent>(0);
    order.add(ref, event, began_ns, computes);
    frontier.enqueue(ref);
    return event;
  }

  static TinyPlan with_others() {
    TinyPlan plan;
    plan.setup.buffers.push_back({.name = "others", .elements = 10});
    return plan;
  }

  TinyPlan tiny = with_others();
  LoggingDevice device;
  plan::Frontier frontier{tiny.input.model, tiny.setup};
  EnqueuedOps order{device, frontier};
};

TEST_F(DeviceOrderTest, AnOpIsBehindTheEventsOfTheOpsThatItWaitsFor) {
  frontier.open(0, tiny.plan());
  const OpRef backward{0, kBackwardSecond}, reduce{0, kReduceSecond};
  EXPECT_TRUE(order.empty());
  enqueue({0, kForwardFirst}, true);
  enqueue({0, kForwardSecond}, true)->done = true;
  const auto event = enqueue(backward, true, 5);
  EXPECT_EQ(order.before(reduce), Events{event});
  EXPECT_FALSE(order.is_ready(reduce));
  event->done = true;
  EXPECT_FALSE(order.is_ready(reduce)) << "nobody has asked the event";
}

TEST_F(DeviceOrderTest, WhatIsDoneIsTakenOnce) {
  frontier.open(0, tiny.plan());
  const OpRef first{0, kForwardFirst}, second{0, kForwardSecond};
  const auto event_of_first = enqueue(first, true, 5);
  const auto event_of_second = enqueue(second, true, 6);
  event_of_second->done = true;
  EXPECT_TRUE(order.take_done().empty()) << "one stream, in its order";
  event_of_first->done = true;
  const auto done = order.take_done();
  ASSERT_EQ(done.size(), 2U);
  EXPECT_EQ(done[0].ref, first);
  EXPECT_EQ(done[0].began_ns, 5);
  EXPECT_TRUE(done[0].computes);
  EXPECT_EQ(done[1].ref, second);
  EXPECT_TRUE(order.empty());
  EXPECT_TRUE(order.take_done().empty());
}

TEST_F(DeviceOrderTest, OpsOfOtherStreamsEndInAnyOrder) {
  frontier.open(0, tiny.plan());
  for (const auto op : {kForwardFirst, kForwardSecond, kBackwardSecond, kBackwardFirst}) {
    frontier.complete({0, op});
  }
  enqueue({0, kReduceSecond}, false);
  enqueue({0, kReduceFirst}, false, 7)->done = true;
  const auto done = order.take_done();
  ASSERT_EQ(done.size(), 1U);
  EXPECT_EQ(done[0].ref, (OpRef{0, kReduceFirst}));
  EXPECT_EQ(done[0].began_ns, 7);
  EXPECT_FALSE(done[0].computes);
  EXPECT_FALSE(order.empty());
}

/// Kernels 0 to 8 on an element each; kernel 9 reads what kernel 3 writes.
std::shared_ptr<const plan::CommPlan> kernels() {
  plan::CommPlan plan;
  for (plan::Elements i = 0; i < 10; ++i) {
    const plan::Slice own{plan::BufferId{2}, i, 1};
    const plan::Slice read{plan::BufferId{2}, i == 9 ? 3 : i, 1};
    plan.ops.push_back(plan::Op{
        plan::Kernel{.name = "scale", .reads = {{read}}, .writes = {{own}}, .numbers = {}}});
  }
  return std::make_shared<const plan::CommPlan>(std::move(plan));
}

TEST_F(DeviceOrderTest, AKernelNeverWaitsForOneThatItDoesNotDependOn) {
  frontier.open(0, kernels());
  constexpr auto kMost = static_cast<int>(EnqueuedOps::kMostKernelStreams);
  for (int i = 0; i < kMost; ++i) {
    EXPECT_TRUE(order.has_stream_for({0, i}));
    EXPECT_EQ(order.take_stream({0, i}), i) << "a stream of its own";
    enqueue({0, i}, false);
  }
  EXPECT_FALSE(order.has_stream_for({0, 8})) << "each stream has one to do";
  EXPECT_TRUE(order.has_stream_for({0, 9}));
  EXPECT_EQ(order.take_stream({0, 9}), 3) << "behind the one it waits for";
  frontier.complete({0, 5});
  EXPECT_TRUE(order.has_stream_for({0, 8}));
  EXPECT_EQ(order.take_stream({0, 8}), 5);
}

}  // namespace
}  // namespace paceline::execution
