// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "execution/toy_rank.h"
#include "paceline/execution/scheduler.h"
#include "paceline/plan/cost.h"
#include "paceline/plan/interpreter.h"
#include "paceline/plan/program.h"
#include "paceline/plan/verify.h"
#include "plan/toy_embeddings.h"
#include "plan/toy_machine.h"
#include "plan/toy_model.h"
#include "strategies/strategy_texts.h"

// The classes that the runtime consists of, on threads, with an engine whose data moves at random
// moments: every row of the strategy table must end with the interpreter's values, bit for bit.

namespace paceline::execution {
namespace {

using testing::FakeDevice;
using testing::run_ranks;
using testing::ToyRank;
using testing::ToyRun;

constexpr plan::Step kToySteps = 3;

plan::ToyMemory meaning_of(const plan::PlanWorld& world) {
  plan::ToyMachine machine(world);
  plan::interpret(world, machine);
  return machine.memory;
}

class EveryStrategy : public ::testing::TestWithParam<std::string> {};

TEST_P(EveryStrategy, EndsWithTheInterpretersValues) {
  const auto planner = strategies::make_planner(strategies::parse_strategy(GetParam()));
  for (const plan::Rank ranks : {2, 3, 4}) {
    for (const int micro_batches : {1, 2}) {
      plan::PlanInput input = plan::input_of(plan::tiny_model(), ranks);
      input.micro_batches = micro_batches;
      std::optional<plan::PlanWorld> world;
      try {
        world.emplace(*planner, input, kToySteps);
      } catch (const UsageError&) {
        continue;  // the strategy does not exist in this world
      }
      const plan::ToyMemory expected = meaning_of(*world);
      for (const std::uint32_t seed : {1U, 2U}) {
        EXPECT_EQ(run_ranks(*planner, *world, {.seed = seed}), expected)
            << ranks << " ranks, " << micro_batches << " micro-batches, seed " << seed;
      }
    }
  }
}

// An op that counts as complete before its data has arrived must be seen.
TEST_P(EveryStrategy, AnEndThatIsReportedTooEarlyIsSeen) {
  const auto planner = strategies::make_planner(strategies::parse_strategy(GetParam()));
  const plan::PlanWorld world(
      *planner, plan::input_of(plan::tiny_model(), strategies::ranks_for(GetParam())), kToySteps);
  const plan::ToyMemory expected = meaning_of(world);
  int seen = 0;
  for (std::uint32_t seed = 0; seed < 3; ++seed) {
    const ToyRun early{.seed = seed, .reports_early = true};
    seen += run_ranks(*planner, world, early) == expected ? 0 : 1;
  }
  bool communicates = false;
  for (plan::Step step = 0; step < kToySteps; ++step) {
    communicates =
        communicates || plan::communicates(planner->plan(world.input(0), world.setup(0),
                                                         planner->variant(world.input(0), step)));
  }
  EXPECT_EQ(seen > 0, communicates);
}

/// Whether each rank may perform its operations one after the other.
bool works_in_one_order(const plan::PlanWorld& world) {
  try {
    plan::verify_one_order(world);
  } catch (const plan::PlanError&) {
    return false;
  }
  return true;
}

/// On a device, with an engine that orders streams (NCCL) where the plan works there, else with one
/// that holds the host (Gloo).
ToyRun on_device(const plan::PlanWorld& world, std::uint32_t seed) {
  const bool one_order = works_in_one_order(world);
  return {
      .seed = seed, .on_device = true, .one_issue_order = one_order, .orders_streams = one_order};
}

TEST_P(EveryStrategy, OnADeviceEndsWithTheInterpretersValues) {
  const auto planner = strategies::make_planner(strategies::parse_strategy(GetParam()));
  for (const plan::Rank ranks : {2, 3, 4}) {
    plan::PlanInput input = plan::input_of(plan::tiny_model(), ranks);
    input.micro_batches = ranks == 3 ? 2 : 1;
    std::optional<plan::PlanWorld> world;
    try {
      world.emplace(*planner, input, kToySteps);
    } catch (const UsageError&) {
      continue;  // the strategy does not exist in this world
    }
    const plan::ToyMemory expected = meaning_of(*world);
    for (const std::uint32_t seed : {1U, 2U}) {
      const ToyRun run =
          seed == 1 ? on_device(*world, seed) : ToyRun{.seed = seed, .on_device = true};
      EXPECT_EQ(run_ranks(*planner, *world, run), expected) << ranks << " ranks, seed " << seed;
    }
  }
}

// A stream that waits for no event must be seen.
TEST_P(EveryStrategy, OnADeviceAMissingEventIsSeen) {
  const auto planner = strategies::make_planner(strategies::parse_strategy(GetParam()));
  const plan::PlanWorld world(
      *planner, plan::input_of(plan::tiny_model(), strategies::ranks_for(GetParam())), kToySteps);
  const plan::ToyMemory expected = meaning_of(world);
  bool seen = false;
  for (std::uint32_t seed = 0; seed < 20 && !seen; ++seed) {
    ToyRun run = on_device(world, seed);
    run.faults.drops_waits = true;
    seen = run_ranks(*planner, world, run) != expected;
  }
  EXPECT_TRUE(seen);
}

/// Whether works of the two kinds ever ran at once, in up to 20 trials.
bool overlaps(const std::string& strategy, FakeDevice::Kind a, FakeDevice::Kind b,
              const FakeDevice::Faults& faults) {
  const auto planner = strategies::make_planner(strategies::parse_strategy(strategy));
  const plan::PlanWorld world(*planner, plan::input_of(plan::tiny_model(), 2), kToySteps);
  bool seen = false;
  for (std::uint32_t seed = 0; seed < 20 && !seen; ++seed) {
    const ToyRun run{.seed = seed, .on_device = true, .faults = faults, .orders_streams = true};
    run_ranks(*planner, world, run,
              [&](const ToyRank& rank) { seen = seen || rank.device().overlapped(a, b); });
  }
  return seen;
}

TEST(OnADevice, WhatNoHazardOrdersRunsAtOnce) {
  using Kind = FakeDevice::Kind;
  const struct {
    const char* strategy;
    Kind a, b;
  } rows[] = {
      {"wfbp", Kind::kCommunication, Kind::kBackward},
      {"dear:bucket-mb=0.00005", Kind::kCommunication, Kind::kForward},
      {"wfbp+all-reduce+topk", Kind::kKernel, Kind::kBackward},
      // The next bucket is encoded while one crosses.
      {"wfbp+all-reduce+topk", Kind::kKernel, Kind::kCommunication},
      {"wfbp+all-reduce+topk", Kind::kKernel, Kind::kKernel},
  };
  for (const auto& row : rows) {
    EXPECT_TRUE(overlaps(row.strategy, row.a, row.b, {})) << row.strategy;
    EXPECT_FALSE(overlaps(row.strategy, row.a, row.b, {.one_stream = true})) << row.strategy;
  }
}

bool is_model_work(const std::vector<plan::Op>& ops, plan::OpIndex op) {
  const auto& work = ops[static_cast<std::size_t>(op)].work;
  return std::holds_alternative<plan::Forward>(work) ||
         std::holds_alternative<plan::Backward>(work);
}

// The gradient that is ready first leaves at once; those that become ready while its message is
// under way leave in the order of the next forward.
TEST(ToServers, MessagesLeaveByPriority) {
  const auto planner = strategies::make_planner(
      strategies::parse_strategy("bytescheduler:order=priority,credit-mb=0+ps:placement=apart,"
                                 "servers=1"));
  const plan::PlanInput input = plan::input_of(plan::tiny_model(), 3);
  const plan::Setup setup = planner->setup(input);
  const auto plan = std::make_shared<const plan::CommPlan>(planner->plan(input, setup, 0));
  const auto push = plan::communicator_named(setup, "push");
  const auto on_push = [&](plan::OpRef ref) {
    return plan::communicator_of(plan->ops[static_cast<std::size_t>(ref.op)]) == push;
  };
  Scheduler scheduler(input.model, setup, 0);
  scheduler.open(0, plan);
  std::vector<plan::OpRef> under_way;
  const auto take = [&] {
    if (const auto op = scheduler.take_communication(0, on_push)) {
      under_way.push_back(*op);
    }
  };
  for (plan::OpIndex op = 0; is_model_work(plan->ops, op); ++op) {
    scheduler.complete({0, op});
    take();
  }
  for (std::size_t i = 0; i < under_way.size(); ++i) {
    scheduler.complete(under_way[i]);
    take();
  }
  std::vector<std::int32_t> read_first_by;
  for (const plan::OpRef ref : under_way) {
    read_first_by.push_back(plan->ops[static_cast<std::size_t>(ref.op)].priority);
  }
  EXPECT_EQ(read_first_by, (std::vector<std::int32_t>{2, 0, 0, 1, 2}));
}

TEST(ShardedEmbeddings, EndWithTheInterpretersValues) {
  for (const auto& [job, at] : plan::toy_jobs()) {
    const auto planner = plan::with_tables(job, "fusion");
    const plan::PlanWorld world(
        *planner, plan::input_of(plan::model_behind_bags(job, at), job.ranks()), kToySteps);
    EXPECT_EQ(run_ranks(*planner, world, {.seed = 1}), meaning_of(world));
  }
}

INSTANTIATE_TEST_SUITE_P(All, EveryStrategy,
                         ::testing::ValuesIn(strategies::performed_strategies()),
                         [](const auto& test) {
                           std::string name = test.param;
                           std::erase_if(name,
                                         [](unsigned char c) { return std::isalnum(c) == 0; });
                           return name;
                         });

}  // namespace
}  // namespace paceline::execution
