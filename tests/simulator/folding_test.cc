// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>

#include <gtest/gtest.h>

#include "paceline/base/error.h"
#include "paceline/strategies/strategy.h"
#include "simulator/agree.h"
#include "simulator/toy.h"
#include "strategies/every_topology.h"
#include "strategies/strategy_texts.h"

namespace paceline::simulator {
namespace {

/// Strategies of which a schedule, an exchange or a whole word is each one.
std::vector<std::string> strategies() {
  std::vector<std::string> all;
  for (const auto& row : strategies::schedules()) {
    all.emplace_back(row.name);
  }
  for (const auto& row : strategies::exchanges()) {
    all.push_back("wfbp+" + std::string(row.name));
  }
  for (const auto& row : strategies::whole_strategies()) {
    if (row.make != nullptr) {
      all.emplace_back(row.name);
    }
  }
  return all;
}

/// Options of exchanges, codecs and update rules that fold in another way.
const std::vector<std::string> kOptions{"fusion+fp16",
                                        "fusion+topk",
                                        "fusion+sign",
                                        "fusion+ef-sign",
                                        "fusion+random-k",
                                        "fusion+qsgd",
                                        "fusion+powersgd",
                                        "wfbp+ps+sign",
                                        "wfbp+hierarchical:local=2",
                                        "wfbp+hierarchical:local=3",
                                        "wfbp+neighbor-allreduce:topology=inner-outer-exp,local=3",
                                        "wfbp+hierarchical-neighbor-allreduce:local=3",
                                        "wfbp+neighbor-allreduce:topology=exp",
                                        "wfbp+neighbor-allreduce:topology=ring+awc",
                                        "wfbp+neighbor-allreduce:topology=inner-outer-exp",
                                        "wfbp+hierarchical-neighbor-allreduce:topology=exp",
                                        "wfbp+hierarchical-neighbor-allreduce:style=leader",
                                        "wfbp+ps:placement=apart,servers=1",
                                        "wfbp+ps:placement=apart,assign=hash,local=1",
                                        "bytescheduler:order=priority,credit-mb=0+ps:servers=1",
                                        "bsp+ps:assign=hash,local=0"};

class Folding : public testing::TestWithParam<std::string> {};
class NightlyFolding : public Folding {};
class FoldingInLargeWorlds : public Folding {};
class FoldingOfEveryRow : public Folding {};
class NightlyFoldingOfEveryRow : public Folding {};

plan::PlanInput million(plan::Rank local) {
  auto input = toy_input(2, 1'000'000);
  input.local_world = {};
  input.local_world.add(input.world / local, local);
  return input;
}

struct Folds {
  const char* strategy;
  plan::Rank local;  // on a host
  std::size_t classes;
};

// Tens of millions of ops if they did not.
TEST(FoldingAMillionRanks, LeavesAHandful) {
  for (const Folds& row :
       {Folds{"fusion", 4, 1}, Folds{"fusion", 1'000'000, 1}, Folds{"fusion+hierarchical", 4, 1},
        Folds{"fusion+hierarchical:local=8", 4, 8},
        Folds{"fusion+hierarchical:local=8", 1'000'000, 1},
        Folds{"fusion+hierarchical:local=2", 4, 1},
        Folds{"bytescheduler:order=priority+hierarchical", 4, 1},
        Folds{"fusion+hierarchical+zero-1", 4, 4}, Folds{"fusion+rs-ag+zero-1", 4, 1},
        Folds{"fusion+rs-ag+zero-2", 4, 1}, Folds{"wfbp+neighbor-allreduce:topology=ring", 4, 4},
        Folds{"wfbp+neighbor-allreduce:topology=ring", 1, 1},
        Folds{"wfbp+neighbor-allreduce:topology=exp", 4, 4}, Folds{"wfbp+neighbor-allreduce", 4, 4},
        Folds{"wfbp+neighbor-allreduce:topology=inner-outer-exp", 4, 4},
        Folds{"wfbp+hierarchical-neighbor-allreduce", 4, 1},
        Folds{"wfbp+hierarchical-neighbor-allreduce:style=leader", 4, 2}}) {
    SCOPED_TRACE(row.strategy);
    const auto planner = planner_of(row.strategy);
    const Job job = compile(*planner, million(row.local), {.steps = 4});
    EXPECT_EQ(job.actors.size(), row.classes);
  }
}

// Each of these servers meets every worker, however few plans there are.
TEST(FoldingAMillionRanks, RejectsServersOfThem) {
  const auto rejection = [](const std::string& strategy, plan::Rank world) {
    auto input = million(4);
    input.world = world;
    input.local_world = {};
    input.local_world.add(world / 4, 4);
    try {
      compile(*planner_of(strategy), input, {.steps = 50});
    } catch (const UsageError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(rejection("wfbp+ps:servers=1", 1'000'000),
            "rank 0 of 1000000 would send and receive more than 1000000 messages in a step, as one "
            "that serves many ranks does: choose fewer ranks, or an exchange without servers");
  EXPECT_EQ(
      rejection("wfbp+ps:placement=apart,servers=4", 100'000),
      "50 steps of 5 simulated ranks, some of which exchange with many of the 100000, have more "
      "than 10000000 messages: ask for fewer steps, ranks or servers, or larger partitions");
}

/// Some exchanges want equally many ranks on every host, a rank beside the servers, or an even
/// world, and reject others.
bool rejected(const plan::Planner& planner, const plan::PlanInput& input) {
  try {
    planner.setup(input);
  } catch (const UsageError&) {
    return true;
  }
  return false;
}

void expect_equal_up_to(plan::Rank largest, const std::string& strategy) {
  const auto planner = planner_of(strategy);
  plan::Rank compared = 0;
  for (plan::Rank world = 1; world <= largest; ++world) {
    for (const plan::Rank local : {1, 4}) {
      SCOPED_TRACE(testing::Message() << world << " ranks, " << local << " on a host");
      auto input = toy_input(2, world);
      input.local_world = hosts_of(world, local);
      if (!rejected(*planner, input)) {
        expect_equal(*planner, input, rough_costs(input));
        ++compared;
      }
    }
  }
  EXPECT_GE(compared, largest / 4);
}

TEST_P(Folding, EqualsUnfoldedInSmallWorlds) { expect_equal_up_to(24, GetParam()); }

TEST_P(NightlyFolding, EqualsUnfoldedUpTo64Ranks) { expect_equal_up_to(64, GetParam()); }

TEST_P(FoldingInLargeWorlds, EqualsUnfolded) {
  const auto planner = planner_of(GetParam());
  for (const plan::Rank world : {100, 255, 256, 1000}) {
    SCOPED_TRACE(world);
    auto input = toy_input(1, world);
    input.local_world = hosts_of(world, world == 100 ? 5 : 8);
    if (!rejected(*planner, input)) {
      expect_equal(*planner, input, rough_costs(input));
    }
  }
}

TEST_P(FoldingInLargeWorlds, OneHostHoldsAll) {
  const auto planner = planner_of(GetParam());
  for (const plan::Rank world : {5, 32, 255}) {
    SCOPED_TRACE(world);
    auto input = toy_input(2, world);
    input.local_world = {world};
    if (!rejected(*planner, input)) {
      expect_equal(*planner, input, rough_costs(input));
    }
  }
}

/// Three modules of five tensors, so that shares of a bucket hold different numbers of them;
/// kernels cost by tensor.
plan::PlanInput uneven_input(plan::Rank world, plan::Rank local) {
  auto input = plan::input_of(plan::tiny_model(), world);
  input.optimizer = plan::adamw();
  input.local_world = hosts_of(world, local);
  return input;
}

void expect_equal_of_uneven(const std::vector<plan::Rank>& worlds, int at_least,
                            const std::string& strategy) {
  const auto planner = planner_of(strategy);
  int compared = 0;
  for (const plan::Rank world : worlds) {
    for (const plan::Rank local : {1, 2, 4}) {
      SCOPED_TRACE(testing::Message() << world << " ranks, " << local << " on a host");
      const auto input = uneven_input(world, local);
      if (!rejected(*planner, input)) {
        expect_equal(*planner, input, rough_costs(input));
        ++compared;
      }
    }
  }
  EXPECT_GE(compared, at_least);
}

TEST_P(FoldingOfEveryRow, EqualsUnfolded) {
  expect_equal_of_uneven({2, 3, 4, 6, 8}, 3, GetParam());
}

// Nine ranks are a server beside hosts of two or four workers.
TEST_P(NightlyFoldingOfEveryRow, EqualsUnfolded) {
  expect_equal_of_uneven({8, 9, 12}, 1, GetParam());
}

// Each shard is like the first one, which no filling follows: as an update costs what its elements
// cost, the slowest shard is simulated.
TEST(FoldingOfManyShards, TakesTheStepOfTheSlowest) {
  for (const char* strategy : {"wfbp+rs-ag+zero-1", "bsp+rs-ag+zero-1", "wfbp+rs-ag+zero-2"}) {
    SCOPED_TRACE(strategy);
    const auto planner = planner_of(strategy);
    const auto input = uneven_input(300, 4);
    Costs costs = rough_costs(input);
    for (cluster::KernelCost& kernel : costs.software.kernels) {
      kernel.launch_per_tensor = 0;
    }
    const Job folded = compile(*planner, input, {.steps = 4});
    const Job whole = compile(*planner, input, {.steps = 4, .fold = false});
    EXPECT_EQ(folded.actors.size(), 1u);
    EXPECT_EQ(whole.actors.size(), 300u);
    EXPECT_EQ(Simulator(folded).run(costs).steps, Simulator(whole).run(costs).steps);
  }
}

// Ranks run ahead of their neighbors until no slot is free.
TEST(FoldingOfWindows, EqualsUnfoldedPastTheLead) {
  for (const char* options : {"slots=1", "slots=2", "topology=ring", "topology=full"}) {
    SCOPED_TRACE(options);
    const auto planner = planner_of(fmt::format("wfbp+win-put:{}", options));
    for (const plan::Rank world : {2, 5, 8, 16}) {
      const auto input = uneven_input(world, 4);
      expect_equal(*planner, input, rough_costs(input), 24);
    }
  }
}

bool has_topology(const strategies::RowInfo& exchange) {
  return std::ranges::any_of(exchange.options,
                             [](const auto& option) { return option.key == "topology"; });
}

/// Of `nodes` ranks, or of hosts of two.
void expect_equal_on(const std::string& exchange, const strategies::NamedTopology& topology,
                     plan::Rank nodes, int& compared) {
  const bool of_hosts = exchange.starts_with("hierarchical");
  const plan::Rank local = of_hosts ? 2 : topology.local;
  const auto text = fmt::format("wfbp+{}:topology={}", exchange, topology.text);
  SCOPED_TRACE(testing::Message() << text << " of " << nodes);
  const auto input = uneven_input(of_hosts ? 2 * nodes : nodes, local);
  const auto planner = planner_of(text);
  if (!rejected(*planner, input)) {
    expect_equal(*planner, input, rough_costs(input));
    ++compared;
  }
}

void expect_equal_on_all(const std::vector<plan::Rank>& nodes, int at_least) {
  for (const auto& exchange : strategies::exchanges()) {
    if (!has_topology(exchange)) {
      continue;
    }
    int compared = 0;
    for (const plan::Rank count : nodes) {
      const strategies::EdgeFile edges(strategies::line_of_edges(count));
      for (const auto& topology : strategies::topologies_of(count, edges.text())) {
        expect_equal_on(std::string(exchange.name), topology, count, compared);
      }
    }
    EXPECT_GE(compared, at_least) << exchange.name;
  }
}

TEST(FoldingOfEveryTopology, EqualsUnfolded) { expect_equal_on_all({2, 5, 8, 9}, 30); }

TEST(NightlyFoldingOfEveryTopology, EqualsUnfolded) { expect_equal_on_all({12, 16}, 15); }

std::string name_of(const testing::TestParamInfo<std::string>& row) {
  std::string name;
  for (const char c : row.param) {
    name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, Folding, testing::ValuesIn(strategies()), name_of);
INSTANTIATE_TEST_SUITE_P(Options, Folding, testing::ValuesIn(kOptions), name_of);
INSTANTIATE_TEST_SUITE_P(All, NightlyFolding, testing::ValuesIn(strategies()), name_of);
INSTANTIATE_TEST_SUITE_P(Options, NightlyFolding, testing::ValuesIn(kOptions), name_of);
INSTANTIATE_TEST_SUITE_P(All, FoldingInLargeWorlds, testing::ValuesIn(strategies()), name_of);
INSTANTIATE_TEST_SUITE_P(Options, FoldingInLargeWorlds, testing::ValuesIn(kOptions), name_of);
INSTANTIATE_TEST_SUITE_P(All, FoldingOfEveryRow, testing::ValuesIn(strategies::strategy_texts()),
                         name_of);
INSTANTIATE_TEST_SUITE_P(All, NightlyFoldingOfEveryRow,
                         testing::ValuesIn(strategies::strategy_texts()), name_of);

}  // namespace
}  // namespace paceline::simulator
