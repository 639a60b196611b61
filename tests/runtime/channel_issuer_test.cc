// SPDX-License-Identifier: Apache-2.0
#include "paceline/runtime/channel_issuer.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "execution/logging_device.h"
#include "runtime/fake_channel.h"

namespace paceline::runtime {
namespace {

using plan::OpRef;
using testing::FakeChannel;

/// Says what was reported, once it is.
class Listener final : public execution::IssueListener {
 public:
  void op_ended(plan::OpRef ref, const std::exception_ptr& error) override {
    report("op " + std::to_string(ref.op), error);
  }
  void op_enqueued(plan::OpRef ref, execution::EventPtr event) override {
    report("op " + std::to_string(ref.op) + " before event " +
               std::to_string(static_cast<const testing::CountedEvent&>(*event).number),
           nullptr);
  }
  void pick_arrived(std::size_t on, execution::IssueQueue::Pick pick,
                    const std::exception_ptr& error) override {
    report("pick " + std::to_string(pick) + " on " + std::to_string(on), error);
  }

  /// Waits for the next report.
  std::string next() {
    std::unique_lock lock(mutex_);
    wake_.wait(lock, [this] { return !reports_.empty(); });
    std::string text = reports_.front();
    reports_.pop_front();
    return text;
  }
  bool is_empty() const {
    const std::lock_guard lock(mutex_);
    return reports_.empty();
  }

 private:
  void report(std::string what, const std::exception_ptr& error) {
    try {
      if (error != nullptr) {
        std::rethrow_exception(error);
      }
    } catch (const std::exception& e) {
      what += std::string(": ") + e.what();
    }
    const std::lock_guard lock(mutex_);
    reports_.push_back(std::move(what));
    wake_.notify_one();
  }

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::string> reports_;
};

class ChannelIssuerTest : public ::testing::TestWithParam<bool> {
 protected:
  static plan::Setup make_setup() {
    plan::Setup setup;
    setup.buffers = {{.name = "values", .elements = 8}, {.name = "shard", .elements = 4}};
    // Members 0, 1, 2 are ranks 3, 5, 7.
    setup.communicators = {{.name = "group", .members = plan::Members::spaced(3, 3, 2)}};
    return setup;
  }
  static plan::Op op(plan::Pattern pattern) {
    const plan::Slice all{plan::BufferId{0}, 0, 8};
    const plan::Slice shard{plan::BufferId{1}, 0, 4};
    return {plan::Collective{.pattern = pattern,
                             .in = pattern == plan::Pattern::kAllGather ? shard : all,
                             .out = pattern == plan::Pattern::kReduceScatter ? shard : all,
                             .reduce = plan::Reduce::kSum,
                             .root = 5}};
  }

  FakeChannel data{GetParam()};
  FakeChannel picks{GetParam()};
  FlatMemory memory{make_setup(), at::kCPU};
  Listener listener;
  std::optional<ChannelIssuer> issuer{std::in_place, Channels{.data = {&data}, .picks = {&picks}},
                                      memory, nullptr, plan::kEngines.front()};
};

TEST_P(ChannelIssuerTest, CallsTheChannelWithViewsOfTheFlatBuffers) {
  data.ends_at_once = true;
  for (const auto pattern : {plan::Pattern::kAllReduce, plan::Pattern::kReduceScatter,
                             plan::Pattern::kAllGather, plan::Pattern::kBroadcast}) {
    issuer->start({0, 0}, op(pattern), {});
  }
  EXPECT_EQ(data.calls, (std::vector<std::string>{"all-reduce", "reduce-scatter", "all-gather",
                                                  "broadcast from 1"}));
  EXPECT_EQ(data.tensors[0].data_ptr(), memory.view({plan::BufferId{0}, 0, 8}).data_ptr());
  EXPECT_EQ(data.tensors[1].data_ptr(), memory.view({plan::BufferId{1}, 0, 4}).data_ptr());
}

TEST_P(ChannelIssuerTest, ReportsTheEndOfWhatIsWatched) {
  issuer->report_to(&listener);
  issuer->start({3, 7}, op(plan::Pattern::kAllReduce), {});
  EXPECT_TRUE(listener.is_empty());
  data.works[0]->end();
  EXPECT_EQ(listener.next(), "op 7");
  issuer->start({3, 8}, op(plan::Pattern::kAllReduce), {});
  data.works[1]->end("peer closed");
  EXPECT_EQ(listener.next(), "op 8: peer closed");
}

TEST_P(ChannelIssuerTest, AnOpThatHasEndedBeforeItIsWatchedIsReported) {
  issuer->report_to(&listener);
  data.ends_at_once = true;
  issuer->start({0, 2}, op(plan::Pattern::kAllReduce), {});
  EXPECT_EQ(listener.next(), "op 2");
}

TEST_P(ChannelIssuerTest, ALateReportFindsNoListener) {
  issuer->report_to(&listener);
  issuer->start({0, 2}, op(plan::Pattern::kAllReduce), {});
  issuer->report_to(nullptr);
  data.works[0]->end();
  issuer.reset();  // after the thread that waited
  EXPECT_TRUE(listener.is_empty());
}

TEST_P(ChannelIssuerTest, PicksAreBroadcastByTheFirstMember) {
  issuer->report_to(&listener);
  issuer->send_pick(0, 56);
  EXPECT_EQ(picks.calls, std::vector<std::string>{"broadcast from 0"});
  issuer->receive_pick(0);
  picks.tensors[1].copy_(picks.tensors[0]);
  picks.works[1]->end();
  EXPECT_EQ(listener.next(), "pick 56 on 0");
  picks.works[0]->end();
}

plan::Op exchange() {
  return {plan::Exchange{.on = plan::CommunicatorId{0},
                         .sends = {{7, {plan::BufferId{0}, 0, 2}}, {5, {plan::BufferId{0}, 2, 2}}},
                         .receives = {{7, {plan::BufferId{1}, 1, 3}}}}};
}

TEST_P(ChannelIssuerTest, MessagesGoToMembersByTheirNumbers) {
  issuer->report_to(&listener);
  plan::CommPlan plan;
  plan.ops = {exchange(), exchange()};
  issuer->open(0, plan);
  issuer->start({0, 1}, plan.ops[1], {});
  EXPECT_EQ(data.calls, (std::vector<std::string>{"receive from 2 tag 1", "send to 2 tag 1",
                                                  "send to 1 tag 1"}));
  EXPECT_EQ(data.tensors[0].data_ptr(), memory.view({plan::BufferId{1}, 1, 3}).data_ptr());
  EXPECT_EQ(data.tensors[0].numel(), 3);
  EXPECT_EQ(data.tensors[2].data_ptr(), memory.view({plan::BufferId{0}, 2, 2}).data_ptr());
  for (const auto& work : data.works) {  // for which the issuer waits
    work->end();
  }
}

TEST_P(ChannelIssuerTest, AnExchangeEndsWithTheLastOfItsMessages) {
  issuer->report_to(&listener);
  plan::CommPlan plan;
  plan.ops = {exchange()};
  issuer->open(0, plan);
  issuer->start({0, 0}, plan.ops[0], {});
  data.works[2]->end();
  data.works[0]->end();
  EXPECT_TRUE(listener.is_empty());
  data.works[1]->end();
  EXPECT_EQ(listener.next(), "op 0");
}

TEST_P(ChannelIssuerTest, AnExchangeFailsOnceWithTheFirstOfItsMessages) {
  issuer->report_to(&listener);
  plan::CommPlan plan;
  plan.ops = {exchange()};
  issuer->open(0, plan);
  issuer->start({0, 0}, plan.ops[0], {});
  data.works[1]->end("peer closed");
  EXPECT_EQ(listener.next(), "op 0: peer closed");
  data.works[0]->end("peer closed");
  data.works[2]->end();
  issuer.reset();  // after the threads that waited
  EXPECT_TRUE(listener.is_empty());
}

TEST_P(ChannelIssuerTest, AnExchangeOfNoMessagesEndsAtOnce) {
  issuer->report_to(&listener);
  plan::CommPlan plan;
  plan.ops = {{plan::Exchange{}}};
  issuer->open(0, plan);
  issuer->start({0, 0}, plan.ops[0], {});
  EXPECT_EQ(listener.next(), "op 0");
}

/// On a device that writes down what goes into its streams.
class OnADevice : public ::testing::Test {
 protected:
  void make(const plan::EngineTraits& engine) {
    setup.buffers = {{.name = "values", .elements = 8}};
    setup.communicators = {{.name = "a", .members = {0, 1}}, {.name = "b", .members = {0, 1}}};
    memory.emplace(setup, at::kCPU);
    issuer.emplace(Channels{.data = {&data, &data}, .picks = {}}, *memory,
                   std::shared_ptr<execution::Device>(std::shared_ptr<void>(), &device), engine);
    issuer->report_to(&listener);
  }
  static plan::Op all_reduce(std::int32_t on) {
    const plan::Slice all{plan::BufferId{0}, 0, 8};
    return {plan::Collective{.pattern = plan::Pattern::kAllReduce,
                             .on = plan::CommunicatorId{on},
                             .in = all,
                             .out = all,
                             .reduce = plan::Reduce::kSum}};
  }

  plan::Setup setup;
  FakeChannel data{false};
  std::optional<FlatMemory> memory;
  testing::LoggingDevice device;
  Listener listener;
  std::optional<ChannelIssuer> issuer;
};

// As NCCL's.
TEST_F(OnADevice, WorksThatOrderStreamsAreEnqueuedAtOnce) {
  make({.name = "streams", .summary = "", .made_for = "", .orders_streams = true});
  data.ends_at_once = true;
  const auto before = device.record(execution::Device::kCompute);
  issuer->start({0, 0}, all_reduce(0), {before});
  issuer->start({0, 1}, all_reduce(1), {});
  EXPECT_EQ(listener.next(), "op 0 before event 1");
  EXPECT_EQ(listener.next(), "op 1 before event 2");
  EXPECT_EQ(device.log(), (std::vector<std::string>{
                              "event 0 in stream -1", "stream 0 waits for event 0",
                              "put into stream 0", "put into stream 0", "event 1 in stream 0",
                              "put into stream 1", "put into stream 1", "event 2 in stream 1"}));
}

TEST_F(OnADevice, CommunicatorsShareAStreamWhereTheEngineWantsOneOrder) {
  make({.name = "streams",
        .summary = "",
        .made_for = "",
        .orders_streams = true,
        .one_issue_order = true});
  data.ends_at_once = true;
  issuer->start({0, 0}, all_reduce(0), {});
  issuer->start({0, 1}, all_reduce(1), {});
  EXPECT_EQ(device.log().back(), "event 1 in stream 0");
}

// As Gloo's, which copies to the host: a thread waits, and not the caller.
TEST_F(OnADevice, WorksThatHoldTheHostAreEnqueuedOnceTheyHaveEnded) {
  make({.name = "host", .summary = "", .made_for = ""});
  issuer->start({0, 0}, all_reduce(0), {});
  EXPECT_TRUE(listener.is_empty());
  data.works[0]->end();
  EXPECT_EQ(listener.next(), "op 0 before event 0");
  issuer->start({0, 1}, all_reduce(1), {});
  data.works[1]->end("peer closed");
  EXPECT_EQ(listener.next(), "op 1: peer closed");
  EXPECT_GE(device.threads(), 1U) << "threads that wait use the device";
}

INSTANTIATE_TEST_SUITE_P(Works, ChannelIssuerTest, ::testing::Bool(), [](const auto& row) {
  return row.param ? "WithFuture" : "ToBeWaitedFor";
});

}  // namespace
}  // namespace paceline::runtime
