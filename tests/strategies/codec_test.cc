// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "paceline/plan/cost.h"
#include "paceline/plan/interpreter.h"
#include "paceline/plan/program.h"
#include "paceline/strategies/rules.h"
#include "paceline/strategies/strategy.h"
#include "plan/toy_machine.h"
#include "plan/toy_model.h"
#include "strategies/cost_of.h"

// Codecs that are no narrower type: what they send, and what training with them computes.

namespace paceline::strategies {
namespace {

class EveryCodecWorld : public ::testing::TestWithParam<Rank> {};

// Buckets of 128, 128 and 256 values.
TEST_P(EveryCodecWorld, SendsTheClosedForm) {
  const Rank world = GetParam();
  const PlanInput input = input_of(toy_model({{256}, {128}, {128}}), world);
  const std::int64_t others = world - 1;
  EXPECT_EQ(cost_of("wfbp+topk:density=0.1", input).wire_bytes, others * 8 * (12 + 12 + 25));
  EXPECT_EQ(cost_of("bsp+topk:density=0.1", input).wire_bytes, others * 8 * 51);
  EXPECT_EQ(cost_of("bsp+topk:density=0.00001", input).wire_bytes, others * 8);
  // The bucket's 12, 12 and 25, in parts of 64 values.
  EXPECT_EQ(cost_of("bytescheduler:partition-mb=0.00025+topk:density=0.1", input).wire_bytes,
            others * 8 * (12 + 12 + 25));
  EXPECT_EQ(cost_of("wfbp+sign", input).wire_bytes, others * 512 / 8);
  EXPECT_EQ(cost_of("wfbp+ef-sign", input).wire_bytes, others * (512 / 8 + 3 * 4));
  EXPECT_EQ(cost_of("wfbp+qsgd", input).wire_bytes, others * (512 + 4 * (2 + 1 + 1)));
  const auto summed = [&](std::int64_t bytes) { return 2 * others * bytes / world; };
  EXPECT_EQ(cost_of("wfbp+random-k:density=0.1", input).wire_bytes,
            2 * summed(4 * 12) + summed(4 * 25));
  EXPECT_EQ(cost_of("bsp+sign:form=int8", input).wire_bytes, summed(512));
  if ((world & others) == 0) {
    int rounds = 0;
    for (Rank ranks = 1; ranks < world; ranks *= 2) {
      ++rounds;
    }
    EXPECT_EQ(cost_of("wfbp+gtopk:density=0.1", input).wire_bytes, rounds * 8 * (12 + 12 + 25));
  }
  PlanInput matrices = input;  // 16 x 16, 128, 4 x 32
  matrices.model.parameters[0].sizes = {16, 16};
  matrices.model.parameters[2].sizes = {4, 2, 16};
  EXPECT_EQ(cost_of("bsp+powersgd:rank=2", matrices).wire_bytes,
            summed(4 * (2 * 16 + 128 + 2 * 4)) + summed(4 * (2 * 16 + 2 * 32)));
  // Parts of 16 values, each with a scale.
  EXPECT_EQ(cost_of("bytescheduler:partition-mb=0.000001+ef-sign", input).wire_bytes,
            others * (512 / 8 + 32 * 4));
  if (world > 1) {
    // Ranks 0, 1 and 2 serve a tensor each; they send the others' share and answer every other rank
    // with their own.
    const std::int64_t own = world == 2 ? 128 + 256 : 128;  // of rank 0: tensors 1 and 3, or 1
    EXPECT_EQ(cost_of("wfbp+ps+sign", input).wire_bytes, (512 - own + others * own) / 8);
    EXPECT_EQ(8 * 4 * cost_of("wfbp+ps+sign", input).wire_bytes,
              8 * cost_of("wfbp+ps", input).wire_bytes / 8);
  }
}
INSTANTIATE_TEST_SUITE_P(UpTo16, EveryCodecWorld, ::testing::Range(1, 17));

/// The values of all ranks after some steps of the interpreter.
World trained(const std::string& text, Rank world, Step steps) {
  const auto planner = make_planner(parse_strategy(text));
  const PlanWorld plans(*planner, input_of(tiny_model(), world), steps);
  ToyMachine machine(plans);
  interpret(plans, machine);
  World values = values_in(machine.memory, plans);
  values.resize(static_cast<std::size_t>(world));
  return values;
}

TEST(Codecs, LeaveRanksEqual) {
  for (const char* text : {"wfbp+topk:density=0.2", "bsp+sign", "wfbp+ps+sign", "wfbp+ef-sign",
                           "wfbp+gtopk:density=0.2", "wfbp+random-k:density=0.2", "wfbp+qsgd",
                           "wfbp+powersgd:rank=1"}) {
    for (const Rank world : {2, 4}) {
      const World values = trained(text, world, 5);
      for (const auto& rank : values) {
        EXPECT_EQ(rank, values.front()) << text << " of " << world;
      }
    }
  }
}

TEST(Codecs, ThatSelectEverythingTrainAsWithout) {
  EXPECT_EQ(trained("wfbp+topk:density=1", 4, 5), trained("wfbp", 4, 5));
  // Buckets with padding between their tensors, and parts of them.
  for (const char* codec : {"random-k", "topk", "gtopk"}) {
    for (const char* schedule : {"bsp", "bytescheduler:partition-mb=0.0001,credit-mb=0.001"}) {
      EXPECT_EQ(trained(fmt::format("{}+{}:density=1", schedule, codec), 4, 5),
                trained(schedule, 4, 5))
          << schedule << "+" << codec;
    }
  }
}

/// Momentum SGD with the signs that most ranks have, written without a plan.
World by_majority(Rank world, Step steps) {
  const auto none = make_planner(parse_strategy("none"));
  const PlanWorld alone(*none, input_of(tiny_model(), 1), 1);
  std::vector<Values> values = values_in(ToyMemory(alone), alone).front();
  std::vector<Values> momentum(values.size());
  for (Step step = 0; step < steps; ++step) {
    for (std::size_t p = 0; p < values.size(); ++p) {
      const Values before = values[p];
      momentum[p].resize(before.size(), 0.0);
      for (std::size_t i = 0; i < before.size(); ++i) {
        int sum = 0;
        for (Rank rank = 0; rank < world; ++rank) {
          const Backward work{ParameterId{static_cast<std::int32_t>(p)}};
          sum += toy_gradient(rank, step, work, before)[i] < 0 ? -1 : 1;
        }
        momentum[p][i] = momentum[p][i] * 0.5 + (sum < 0 ? -1 : 1);
        values[p][i] = before[i] - 0.25 * momentum[p][i];
      }
    }
  }
  return World(static_cast<std::size_t>(world), values);
}

TEST(Codecs, SignsAreVotedByServersAsByEveryRank) {
  for (const Rank world : {2, 3}) {
    EXPECT_EQ(trained("bsp+sign", world, 4), by_majority(world, 4));
    EXPECT_EQ(trained("wfbp+ps+sign", world, 4), by_majority(world, 4));
    EXPECT_EQ(trained("wfbp+sign:form=int8", world, 4), by_majority(world, 4));
    EXPECT_EQ(trained("dear+ps+sign:form=int8", world, 4), by_majority(world, 4));
  }
}

/// Sends a copy in doubles, then twice what came back.
class TwoRounds final : public CodecRule {
 public:
  WireFormat format(const PlanInput&) const override { return {.type = DType::kF64}; }
  int rounds(const PlanInput&) const override { return 2; }
  void extend_setup(const PlanInput&, SetupBuilder& builder) const override {
    const Slice values = whole(builder.setup(), kValues);
    for (const char* name : {"round0", "round1"}) {
      builder.add_buffer({.name = name, .dtype = DType::kF64, .elements = values.count});
    }
  }
  std::vector<WireSlice> wire_slices(const Slice& slice, int round,
                                     const Program& program) const override {
    return {
        {.format = format(program.input()), .of = slice, .mine = of_round(slice, round, program)}};
  }
  void encode(const Slice& slice, int round, Program& program) const override {
    const Slice from = round == 0 ? slice : of_round(slice, 0, program);
    program.kernel("linear", {{from}}, {{of_round(slice, round, program)}},
                   {round == 0 ? 1.0 : 2.0});
  }
  void decode(const Slice& slice, Program& program) const override {
    program.kernel("linear", {{of_round(slice, 1, program)}}, {{slice}},
                   {1.0 / (2.0 * program.input().world)});
  }

 private:
  static Slice of_round(const Slice& slice, int round, const Program& program) {
    return {buffer_named(program.setup(), round == 0 ? "round0" : "round1"), slice.begin,
            slice.count};
  }
};

// Worlds of a power of two: dividing is exact.
TEST(Codecs, OfTwoRoundsCrossTwiceOnEveryExchange) {
  for (const char* text : {"bsp", "dear", "wfbp+hierarchical:local=2", "fusion+ps"}) {
    const StrategySpec spec = parse_strategy(text);
    const auto planner =
        make_composed("of two rounds", spec.schedule.row->make(spec.schedule.options),
                      spec.exchange.row->make(spec.exchange.options), std::make_unique<TwoRounds>(),
                      spec.update.row->make(spec.update.options));
    for (const Rank world : {2, 4}) {
      const PlanWorld plans(*planner, input_of(tiny_model(), world), 3);
      ToyMachine machine(plans);
      interpret(plans, machine);
      EXPECT_EQ(values_in(machine.memory, plans), trained(text, world, 3))
          << text << " of " << world;
      EXPECT_EQ(
          cost(plans.setup(0), planner->plan(plans.input(0), plans.setup(0), 0), 0).wire_bytes,
          4 * cost_of(text, plans.input(0)).wire_bytes)
          << text << " of " << world;
    }
  }
}

// What crossed and what stayed is what there was: the sum of all updates and
// of what is left in the residuals is that of all gradients.
void expect_conserved(const std::string& text, Rank world) {
  SCOPED_TRACE(text);
  const auto planner = make_planner(parse_strategy(text));
  const PlanInput input = input_of(tiny_model(), world);
  const PlanWorld plans(*planner, input, 1);
  ToyMachine machine(plans);
  interpret(plans, machine);
  const ToyMemory start(plans);
  for (std::size_t p = 0; p < input.model.parameters.size(); ++p) {
    const ParameterPlacement& where = plans.setup(0).parameters[p];
    Values expected(static_cast<std::size_t>(where.value.count), 0.0);
    Values found(expected.size(), 0.0);
    const Values crossed = machine.memory.read(0, where.gradient);
    for (Rank rank = 0; rank < world; ++rank) {
      const Values gradient =
          toy_gradient(rank, 0, Backward{ParameterId{static_cast<std::int32_t>(p)}},
                       start.read(rank, where.value));
      Slice left = where.value;
      left.buffer = buffer_named(plans.setup(rank), "residual");
      const Values residual = machine.memory.read(rank, left);
      for (std::size_t i = 0; i < expected.size(); ++i) {
        expected[i] += gradient[i];
        found[i] += residual[i];
      }
    }
    std::size_t moved = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      // The update leaves the gradient divided by the ranks.
      found[i] += std::nearbyint(crossed[i] * world);
      moved += crossed[i] != 0 ? 1 : 0;
    }
    EXPECT_EQ(found, expected) << p;
    EXPECT_GT(moved, 0u) << p;
  }
}

TEST(Codecs, WhatDoesNotCrossStaysInTheResidual) {
  expect_conserved("wfbp+topk:density=0.2", 3);
  expect_conserved("wfbp+random-k:density=0.2", 3);
  for (const Rank world : {2, 4, 8, 16}) {
    expect_conserved("wfbp+gtopk:density=0.2", world);
  }
}

/// The residual of each parameter on rank 0 after some steps.
std::vector<Values> residuals(const std::string& text, Step steps) {
  const auto planner = make_planner(parse_strategy(text));
  const PlanWorld plans(*planner, input_of(tiny_model(), 2), steps);
  ToyMachine machine(plans);
  interpret(plans, machine);
  std::vector<Values> found;
  for (const ParameterPlacement& where : plans.setup(0).parameters) {
    Slice left = where.value;
    left.buffer = buffer_named(plans.setup(0), "residual");
    found.push_back(machine.memory.read(0, left));
  }
  return found;
}

// Scales are those of tensors, so it is the same training in other buckets; a residual is found
// where other buckets have left it.
TEST(Codecs, ResidualsLieByParameterWhateverTheBuckets) {
  for (const char* codec : {"ef-sign", "powersgd:rank=1"}) {
    const auto of = [&](const char* schedule) {
      return residuals(fmt::format("{}+{}", schedule, codec), 4);
    };
    EXPECT_EQ(of("bsp"), of("wfbp")) << codec;
    EXPECT_EQ(of("bsp"), of("fusion:bucket-mb=0.00005")) << codec;
    EXPECT_NE(of("bsp"), residuals(fmt::format("bsp+{}", codec), 3)) << codec;
  }
  const auto begins = [](const char* text) {
    const auto planner = make_planner(parse_strategy(text));
    std::vector<Elements> places;
    for (const ParameterPlacement& where : planner->setup(input_of(small_model(), 4)).parameters) {
      places.push_back(where.value.begin);
    }
    return places;
  };
  for (const char* codec : {"topk", "gtopk", "random-k", "ef-sign"}) {
    EXPECT_EQ(begins(fmt::format("bsp+{}", codec).c_str()),
              begins(fmt::format("wfbp+{}", codec).c_str()));
  }
}

}  // namespace
}  // namespace paceline::strategies
