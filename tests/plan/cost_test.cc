// SPDX-License-Identifier: Apache-2.0
#include "paceline/plan/cost.h"

#include <gtest/gtest.h>

#include "paceline/plan/describe.h"
#include "paceline/plan/program.h"
#include "paceline/plan/strategy.h"
#include "paceline/plan/wire_bytes.h"
#include "plan/toy_model.h"

namespace paceline::plan {
namespace {

static_assert(wire_bytes(Pattern::kAllReduce, 400, 1) == 0);
static_assert(wire_bytes(Pattern::kAllReduce, 400, 2) == 400);
static_assert(wire_bytes(Pattern::kAllReduce, 400, 4) == 600);
static_assert(wire_bytes(Pattern::kAllReduce, 400, 3) == 533, "1600/3 down");
static_assert(wire_bytes(Pattern::kReduceScatter, 400, 4) == 300);
static_assert(wire_bytes(Pattern::kAllGather, 400, 4) == 300);
static_assert(wire_bytes(Pattern::kBroadcast, 400, 4) == 400);

class EveryWorld : public ::testing::TestWithParam<Rank> {};

// 512 parameters, no padding: S = 2048 bytes.
TEST_P(EveryWorld, AllReduceStrategiesSendTheClosedForm) {
  const Rank world = GetParam();
  const PlanInput input = input_of(toy_model({{256}, {128}, {128}}), world);
  const std::vector<std::pair<const char*, std::int64_t>> cases{
      {"bsp", 1}, {"fusion:bucket-mb=0.0009", 2}, {"ddp", 1}};
  for (const auto& [text, pieces] : cases) {
    const auto planner = make_planner(parse_strategy(text));
    const auto setup = planner->setup(input);
    const CommPlan plan = planner->plan(input, setup, 0);
    const Cost total = cost(setup, plan, 0);
    EXPECT_LE(total.wire_bytes, 2 * (world - 1) * 2048 / world) << text;
    EXPECT_GT(total.wire_bytes, 2 * (world - 1) * 2048 / world - pieces);
    if (world > 1) {
      EXPECT_EQ(total.by_pattern.at("all-reduce").calls, pieces);
      EXPECT_EQ(rounds(input.model, setup, plan), 1) << text;
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Ranks, EveryWorld, ::testing::Range(1, 17));

TEST(Cost, MemoryIsWhatLiesBesideValuesAndGradients) {
  const PlanInput input = input_of(toy_model({{256}, {256}}), 2);
  const auto memory = [&](const char* text) {
    const auto planner = make_planner(parse_strategy(text));
    const auto setup = planner->setup(input);
    return cost(setup, planner->plan(input, setup, 0), 0).memory_bytes;
  };
  EXPECT_EQ(memory("bsp"), 2048 + 8) << "momentum, learning rate";
  EXPECT_EQ(memory("ddp"), 2048 + 8 + 2048) << "and the Reducer's buckets";
}

TEST(Cost, MessagesCountAtTheSender) {
  const PlanInput input = input_of(toy_model({{256}}), 2);
  Frame frame(input, {input.model.ready_order});
  const CommunicatorId on = frame.add_world("pair");
  const BufferId ragged =
      frame.add_buffer({.name = "ragged", .elements = 100, .typical = 10});
  const auto setup = std::move(frame).finish();
  Program program(input, setup);
  const Slice values = whole(setup, BufferId{0});
  program.exchange(on, {{1, values}, {1, whole(setup, ragged)}}, {});
  program.exchange(on, {}, {{1, values}});
  const CommPlan plan = std::move(program).finish();
  EXPECT_EQ(cost(setup, plan, 0).by_pattern.at("message"),
            (Traffic{1024 + 40, 2}));
  EXPECT_EQ(rounds(input.model, setup, plan), 2) << "write after read";
}

TEST(Describe, NamesSizesAndTensors) {
  const PlanInput input = input_of(small_model(), 8);
  const auto planner = make_planner(parse_strategy("fusion:bucket-mb=0.0001"));
  const auto setup = planner->setup(input);
  const CommPlan plan = planner->plan(input, setup, 0);
  const auto text = [&](std::size_t op) {
    return describe(plan.ops[op], input.model, setup);
  };
  EXPECT_EQ(text(1), "forward, layer1");
  EXPECT_EQ(text(4), "backward, layer3.p0");
  EXPECT_EQ(text(11),
            "all-reduce, 192 bytes, gradients layer3.p0 .. layer2.p2, on grad, "
            "8 ranks");
  EXPECT_EQ(text(12),
            "update, 576 bytes, values layer3.p0 .. layer2.p2 and 2 "
            "more");
  EXPECT_EQ(describe(setup.parameters[0].value, input.model, setup),
            "values layer0.p0");
  EXPECT_EQ(
      describe({buffer_named(setup, "momentum"), 0, 5}, input.model, setup),
      "momentum layer3.p0");
  EXPECT_EQ(describe(plan, input.model, setup).substr(0, 108),
            "   0  forward, layer0 .. layer3 (4 ops)\n"
            "   4  backward, layer3.p0 .. layer0.p0 (7 ops)\n"
            "  11  all-reduce, 192");
}

TEST(Describe, BytesInPowersOfAThousand) {
  EXPECT_EQ(bytes_text(999), "999 bytes");
  EXPECT_EQ(bytes_text(1000), "1.0 kB");
  EXPECT_EQ(bytes_text(999'949), "999.9 kB");
  EXPECT_EQ(bytes_text(999'999), "1.0 MB");
  EXPECT_EQ(bytes_text(9'437'184), "9.4 MB");
}

}  // namespace
}  // namespace paceline::plan
