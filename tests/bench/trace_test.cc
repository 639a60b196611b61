// SPDX-License-Identifier: Apache-2.0
#include "paceline/bench/trace.h"

#include <gtest/gtest.h>

namespace paceline::bench {
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

TEST(Trace, ATransferHasItsBytesAndAWaitNamesIt) {
  const plan::CommPlan plan = one_all_reduce();
  plan::Setup setup;
  setup.buffers.emplace_back();
  setup.buffers.front().elements = 10;
  setup.communicators.push_back({.name = "all", .members = {0, 1}});
  Recording recording;
  recording.ops = {{.ref = {4, 0}, .start_ns = 150, .end_ns = 170},
                   {.ref = {4, 0},
                    .kind = runtime::OpSpan::Kind::kWait,
                    .start_ns = 160,
                    .end_ns = 170}};
  recording.phases = {
      {.forward = false, .step = 4, .start_ns = 110, .end_ns = 160}};
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
  EXPECT_EQ(spans[1].track, record::Track::kForward);
  EXPECT_EQ(spans[2].name, "backward");
  EXPECT_EQ(spans[2].rank, 3);

  const auto back = spans_from(to_text(spans));
  ASSERT_EQ(back.size(), spans.size());
  EXPECT_EQ(back[0].name, spans[0].name);
  EXPECT_EQ(back[0].args, spans[0].args);
  EXPECT_EQ(back[2].track, record::Track::kBackward);
  EXPECT_EQ(back[2].start_ns, 10);
}

}  // namespace
}  // namespace paceline::bench
