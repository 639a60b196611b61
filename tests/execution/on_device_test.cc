// SPDX-License-Identifier: Apache-2.0
#include <future>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "execution/fake_issuer.h"
#include "execution/logging_device.h"
#include "execution/tiny_plan.h"
#include "paceline/base/error.h"
#include "paceline/execution/dispatcher.h"

// A dispatcher on a device whose events the test ends.

namespace paceline::execution {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace)
using plan::OpRef;

class OnDeviceTest : public ::testing::Test {
 protected:
  OnDeviceTest() {
    issuer.on_start = [this](OpRef ref, const Events& before) {
      wait_all(device, stream, before);
      dispatcher->op_enqueued(ref, device.record(stream));
      if (starts_awaited > 0 && --starts_awaited == 0) {
        started.set_value();
      }
    };
  }

  void make(Dispatcher::Options options = {}) {
    options.device = &device;
    dispatcher.emplace(
        tiny.input, tiny.setup, issuer,
        [this](OpRef ref, const plan::Kernel&) {
          if (ref == OpRef{0, kUpdateFirst}) {
            updated.set_value();
          }
        },
        std::move(options));
  }

  void compute(plan::Step step) {
    for (const auto op : {kForwardFirst, kForwardSecond, kBackwardSecond, kBackwardFirst}) {
      dispatcher->wait_ready({step, op});
      dispatcher->complete({step, op});
    }
    dispatcher->end_step();
  }

  int count(const std::string& line) const {
    int n = 0;
    for (const std::string& one : device.log()) {
      n += one == line ? 1 : 0;
    }
    return n;
  }

  TinyPlan tiny;
  FakeIssuer issuer;
  LoggingDevice device;
  const Device::Stream stream = device.add_stream();
  int starts_awaited = 0;
  std::promise<void> started, updated;
  std::optional<Dispatcher> dispatcher;
};

// Events 0 to 3 are those of the model work, 4 and 5 or so of the rest.
TEST_F(OnDeviceTest, OpsAreEnqueuedBehindTheEventsOfTheirOwnPredecessors) {
  make();
  dispatcher->begin_step(0, tiny.plan());
  compute(0);
  updated.get_future().wait();  // with no event over
  EXPECT_EQ(issuer.started, (std::vector<OpRef>{{0, kReduceSecond}, {0, kReduceFirst}}));
  const auto log = device.log();
  // The all-reduce of the second gradient does not wait for the first's.
  EXPECT_EQ(log[2], "event 2 in stream -1");
  EXPECT_EQ(log[3], "stream 0 waits for event 2");
  device.end_all();
  dispatcher->wait_all();
}

TEST_F(OnDeviceTest, AGateMakesTheStreamWaitAndNotTheThread) {
  make();
  dispatcher->begin_step(0, tiny.plan());
  compute(0);
  updated.get_future().wait();
  dispatcher->begin_step(1, tiny.plan());
  dispatcher->wait_ready({1, kForwardFirst});
  const std::string last = device.log().back();
  EXPECT_EQ(last.find("stream -1 waits for event "), 0U) << last;
  device.end_all();
}

TEST_F(OnDeviceTest, KernelsWhoseHazardsAreNotOneHaveStreamsOfTheirOwn) {
  make();
  dispatcher->begin_step(0, tiny.plan());
  compute(0);
  updated.get_future().wait();
  EXPECT_EQ(count("put into stream 1"), 1);
  EXPECT_EQ(count("put into stream 2"), 1);
  device.end_all();
  dispatcher->wait_all();
}

// Bytes are in flight until the device has moved them.
TEST_F(OnDeviceTest, CreditIsHeldUntilTheEvent) {
  tiny.setup.communicators[0].credit_bytes = 1;
  make();
  dispatcher->begin_step(0, tiny.plan());
  compute(0);
  EXPECT_EQ(issuer.started, (std::vector<OpRef>{{0, kReduceSecond}}));
  starts_awaited = 1;
  device.end_all();
  started.get_future().wait();
  EXPECT_EQ(issuer.started.back(), (OpRef{0, kReduceFirst}));
  dispatcher->wait_all();
}

// The host has put both gradients into the stream, but the device has neither.
TEST_F(OnDeviceTest, TheFirstMemberPicksAmongWhatTheDeviceHasDone) {
  tiny.setup.communicators[0].order = plan::IssueOrder::kPriority;
  plan::CommPlan plan = tiny.ops();
  plan.ops[kReduceSecond].priority = 1;
  make();
  dispatcher->begin_step(0, std::make_shared<const plan::CommPlan>(std::move(plan)));
  compute(0);
  EXPECT_TRUE(issuer.started.empty());
  starts_awaited = 2;
  device.end_all();
  started.get_future().wait();
  EXPECT_EQ(issuer.started, (std::vector<OpRef>{{0, kReduceFirst}, {0, kReduceSecond}}));
  dispatcher->wait_all();
}

TEST_F(OnDeviceTest, CommunicatorsShareOneOrderWhereTheEngineWantsIt) {
  tiny.setup.communicators.push_back({.name = "other", .members = {0, 1}});
  plan::CommPlan plan = tiny.ops();
  std::get<plan::Collective>(plan.ops[kReduceSecond].work).on = plan::CommunicatorId{1};
  // In program order, kReduceFirst comes behind an op that waits for it.
  std::swap(plan.ops[kReduceSecond], plan.ops[kReduceFirst]);
  make({.one_issue_order = true});
  dispatcher->begin_step(0, std::make_shared<const plan::CommPlan>(std::move(plan)));
  for (const auto op : {kForwardFirst, kForwardSecond, kBackwardSecond}) {
    dispatcher->wait_ready({0, op});
    dispatcher->complete({0, op});
  }
  EXPECT_TRUE(issuer.started.empty()) << "the other communicator's is first";
  dispatcher->complete({0, kBackwardFirst});
  EXPECT_EQ(issuer.started, (std::vector<OpRef>{{0, kReduceSecond}, {0, kReduceFirst}}));
  dispatcher->end_step();
  device.end_all();
}

// No wait of the host sees it but the one for the step before the last.
TEST_F(OnDeviceTest, AnOpThatTheDeviceNeverEndsIsNamed) {
  make({.timeout = std::chrono::milliseconds(1)});
  std::string why = "no error";
  try {
    for (const plan::Step step : {0, 1, 2}) {
      dispatcher->begin_step(step, tiny.plan());
      compute(step);
    }
  } catch (const PeerTimeout& error) {
    why = error.what();
  }
  EXPECT_NE(why.find("all-reduce, 8 bytes, gradients second.weight"), std::string::npos) << why;
}

TEST_F(OnDeviceTest, ADeviceThatFailsIsTheErrorOfTheRun) {
  struct Failed final : Event {
    bool is_done() const override { throw std::runtime_error("an illegal memory access"); }
  };
  issuer.on_start = [this](OpRef ref, const Events&) {
    dispatcher->op_enqueued(ref, std::make_shared<Failed>());
  };
  make();
  dispatcher->begin_step(0, tiny.plan());
  std::string why = "no error";
  try {
    compute(0);
    dispatcher->wait_all();
  } catch (const std::exception& error) {
    why = error.what();
  }
  EXPECT_EQ(why, "an illegal memory access");
}

}  // namespace
}  // namespace paceline::execution
