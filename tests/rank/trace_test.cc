// SPDX-License-Identifier: Apache-2.0
#include "paceline/rank/trace.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace paceline::rank {
namespace {

plan::CommPlan one_all_reduce() {
  plan::CommPlan plan;
  plan::Op op;
  plan::Collective collective;
  collective.pattern = plan::Pattern::kAllReduce;
  collective.in = {plan::BufferId{0}, 0, 10};
  collective.out = collective.in;
  op.work = collective;
  plan.ops.push_back(op);
  return plan;
}

TEST(Trace, EachRepetitionHasAFileOfItsOwn) {
  EXPECT_EQ(trace_path("a.b/trace.json", 0), "a.b/trace.json");
  EXPECT_EQ(trace_path("a.b/trace.json", 1), "a.b/trace.run2.json");
  EXPECT_EQ(trace_path("a.b/trace", 2), "a.b/trace.run3");
}

TEST(Trace, AReducersTransferLiesInItsStep) {
  RankRecording recording;
  recording.phases = {{.forward = true, .step = 7, .start_ns = 100, .end_ns = 150},
                      {.forward = false, .step = 7, .start_ns = 150, .end_ns = 300},
                      {.forward = true, .step = 8, .start_ns = 300, .end_ns = 350}};
  recording.transfers = {{.pattern = plan::Pattern::kAllReduce,
                          .payload_bytes = 4'000'000,
                          .start_ns = 200,
                          .end_ns = 310}};
  const auto spans = spans_of(recording, {}, {}, 1, 100);
  ASSERT_EQ(spans.size(), 4U);
  EXPECT_EQ(spans[0].name, "all-reduce, 4.0 MB, by the Reducer");
  EXPECT_EQ(spans[0].category, "transfer");
  EXPECT_EQ(spans[0].rank, 1);
  EXPECT_EQ(spans[0].start_ns, 100);
  EXPECT_EQ(spans[0].duration_ns, 110);
  EXPECT_EQ(spans[0].args.at("bytes"), 4'000'000);
  EXPECT_EQ(spans[0].args.at("step"), 7);
}

TEST(Trace, ATransferHasItsBytesAndAWaitNamesIt) {
  const plan::CommPlan plan = one_all_reduce();
  plan::Setup setup;
  setup.buffers.emplace_back();
  setup.buffers.front().elements = 10;
  setup.communicators.push_back({.name = "all", .members = {0, 1}});
  RankRecording recording;
  recording.ops = {
      {.ref = {4, 0}, .start_ns = 150, .end_ns = 170},
      {.ref = {4, 0}, .kind = execution::OpSpan::Kind::kWait, .start_ns = 160, .end_ns = 170}};
  recording.phases = {{.forward = false, .step = 4, .start_ns = 110, .end_ns = 160}};
  recording.plan_of = [&](plan::Step step) -> const plan::CommPlan& {
    EXPECT_EQ(step, 4);
    return plan;
  };
  const auto spans = spans_of(recording, {}, setup, 3, 100);
  ASSERT_EQ(spans.size(), 3U);
  EXPECT_EQ(spans[0].category, "transfer");
  EXPECT_EQ(spans[0].start_ns, 50);
  EXPECT_EQ(spans[0].duration_ns, 20);
  EXPECT_EQ(spans[0].args.at("bytes"), 40);
  EXPECT_EQ(spans[1].name, "wait for " + spans[0].name);
  EXPECT_EQ(spans[1].track, records::Track::kForward);
  EXPECT_EQ(spans[2].name, "backward");
  EXPECT_EQ(spans[2].rank, 3);

  const auto back = spans_from(to_text(spans));
  ASSERT_EQ(back.size(), spans.size());
  EXPECT_EQ(back[0].name, spans[0].name);
  EXPECT_EQ(back[0].args, spans[0].args);
  EXPECT_EQ(back[2].track, records::Track::kBackward);
  EXPECT_EQ(back[2].start_ns, 10);
}

TEST(Trace, AnExchangeIsATransferOfTheBytesThatItSends) {
  plan::CommPlan plan;
  plan::Op op;
  op.work = plan::Exchange{.on = plan::CommunicatorId{0},
                           .sends = {{.peer = 1, .slice = {plan::BufferId{0}, 0, 10}},
                                     {.peer = 2, .slice = {plan::BufferId{0}, 0, 10}}},
                           .receives = {{.peer = 1, .slice = {plan::BufferId{0}, 10, 10}}}};
  plan.ops.push_back(op);
  plan::Setup setup;
  setup.buffers.emplace_back();
  setup.buffers.front().elements = 20;
  setup.communicators.push_back({.name = "all", .members = {0, 1, 2}});
  RankRecording recording;
  recording.ops = {{.ref = {0, 0}, .start_ns = 0, .end_ns = 5}};
  recording.plan_of = [&](plan::Step) -> const plan::CommPlan& { return plan; };
  const auto spans = spans_of(recording, {}, setup, 0, 0);
  ASSERT_EQ(spans.size(), 1U);
  EXPECT_EQ(spans[0].track, records::Track::kComm);
  EXPECT_EQ(spans[0].category, "transfer");
  EXPECT_EQ(spans[0].args.at("bytes"), 80);
}

}  // namespace
}  // namespace paceline::rank
