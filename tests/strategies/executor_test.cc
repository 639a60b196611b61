// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>
#include <iostream>
#include <memory>
#include <optional>

#include <gtest/gtest.h>

#include "paceline/base/error.h"
#include "paceline/plan/access.h"
#include "paceline/plan/describe.h"
#include "paceline/plan/interpreter.h"
#include "paceline/plan/optimizer.h"
#include "paceline/plan/verify.h"
#include "paceline/strategies/strategy.h"
#include "plan/hand_plans.h"
#include "plan/random_executor.h"
#include "plan/toy_machine.h"
#include "plan/toy_model.h"
#include "strategies/strategy_texts.h"

namespace paceline::strategies {
namespace {

constexpr Step kWorldSteps = 4;
constexpr std::uint32_t kSchedules = 200, kFewSchedules = 25, kFewestSchedules = 10;

/// Three modules, five tensors.
ModelShape tiny_model() { return toy_model({{9, 2}, {12}, {3, 6}}); }

/// Whether its results depend on timing, because values may be late.
bool is_stale(const std::string& text) {
  const auto planner = make_planner(parse_strategy(text));
  const PlanInput input = input_of(tiny_model(), ranks_for(text));
  return has_slack(planner->plan(input, planner->setup(input), 0));
}

struct Case {
  std::string name;
  std::function<std::unique_ptr<Planner>()> make;
  Rank world = 1;
  int micro_batches = 1;
  OptimizerShape optimizer{};
  bool loss_scaling = false;
  std::uint32_t schedules = kSchedules;
  double clip_norm = 0;

  PlanInput input() const {
    PlanInput result = input_of(tiny_model(), world);
    result.micro_batches = micro_batches;
    result.optimizer = optimizer;
    result.loss_scaling = loss_scaling;
    result.clip_norm = clip_norm;
    return result;
  }
};

void add_optimizers(const std::function<std::unique_ptr<Planner>()>& make, std::vector<Case>& all) {
  for (const std::string& name : optimizer_names()) {
    all.push_back({"fusion of 3, " + name, make, 3, 1, shape_of(name), false, kFewSchedules});
  }
}

/// The rows of the tables, each in a world of `ranks_of` its text.
template <class RanksOf>
std::vector<Case> table_rows(const RanksOf& ranks_of) {
  std::vector<Case> all;
  for (const std::string& text : strategy_texts()) {
    if (is_stale(text)) {
      continue;
    }
    const Rank ranks = ranks_of(text);
    all.push_back({fmt::format("{} of {}", text, ranks),
                   [text] { return make_planner(parse_strategy(text)); }, ranks});
    if (text.find('+') != std::string::npos) {
      all.back().schedules = kFewSchedules;
    }
    const StrategySpec spec = parse_strategy(text);
    const bool may_scale = spec.update.row == nullptr || spec.update.row->name == "gradients" ||
                           spec.update.row->name == "awc";
    if (may_scale && spec.guarantee() != Guarantee::kCompressed) {
      all.push_back(all.back());
      all.back().name += ", scaled";
      all.back().loss_scaling = true;
      all.back().schedules = kFewSchedules;
    }
    all.push_back(all.back());  // and scaled, where it may be
    all.back().name += ", clipped";
    all.back().clip_norm = 5;
    all.back().schedules = kFewSchedules;
  }
  return all;
}

std::vector<Case> cases() {
  std::vector<Case> all = table_rows(ranks_for);
  const auto fusion = [] { return make_planner(parse_strategy("fusion:bucket-mb=0.00005")); };
  const auto ddp = [] { return make_planner(parse_strategy("ddp")); };
  all.push_back({"fusion of 1", fusion, 1});
  all.push_back({"fusion of 2", fusion, 2});
  all.push_back({"ddp of 1", ddp, 1});
  all.push_back({"fusion of 3, two micro-batches", fusion, 3, 2});
  all.push_back({"ddp of 2, two micro-batches", ddp, 2, 2});
  const auto zero = [] { return make_planner(parse_strategy("wfbp+rs-ag+zero-2")); };
  all.push_back({"zero-2 of 3, two micro-batches", zero, 3, 2});
  const auto views = [] {
    return make_planner(parse_strategy("ddp:bucket-mb=0.0001,views=yes,static=yes"));
  };
  all.push_back({"ddp of 2, with views", views, 2});
  add_optimizers(fusion, all);
  all.push_back({"fusion of 3, adamw, scaled", fusion, 3, 1, adamw(), true});
  all.push_back({"ddp of 2, two micro-batches, scaled", ddp, 2, 2, {}, true});
  for (const HandPlan& plan : strict_hand_plans()) {
    all.push_back(
        {plan.name, [plan] { return std::make_unique<HandPlanner>(plan.make()); }, plan.world});
  }
  return all;
}

ToyMemory meaning_of(const PlanWorld& world) {
  ToyMachine machine(world);
  interpret(world, machine);
  return machine.memory;
}

class StrictPlans : public ::testing::TestWithParam<Case> {};

TEST_P(StrictPlans, EqualTheInterpreterBitForBitUnderEverySchedule) {
  const auto planner = GetParam().make();
  verify(*planner, GetParam().input());
  const PlanWorld world(*planner, GetParam().input(), kWorldSteps);
  const ToyMemory expected = meaning_of(world);
  ASSERT_EQ(expected, expected) << "the interpreter's result holds a NaN";
  RandomExecutor executor(world);
  for (std::uint32_t seed = 0; seed < GetParam().schedules; ++seed) {
    const auto failure = executor.run(seed);
    ASSERT_FALSE(failure.has_value()) << "seed " << seed << ": " << *failure;
    ASSERT_EQ(executor.memory(), expected) << "seed " << seed;
  }
}
INSTANTIATE_TEST_SUITE_P(All, StrictPlans, ::testing::ValuesIn(cases()), [](const auto& test) {
  std::string name = test.param.name;
  std::erase_if(name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; });
  return name;
});

TEST(Planners, WriteTheSamePlanOnEveryRankWhereAllReduce) {
  for (const std::string& text : strategy_texts()) {
    const StrategySpec spec = parse_strategy(text);
    if (spec.exchange.row != nullptr &&
        (spec.exchange.row->name != "all-reduce" || spec.codec.row->name == "gtopk")) {
      continue;  // ranks name their peers
    }
    const auto planner = make_planner(spec);
    std::vector<std::string> plans;
    for (const Rank rank : {0, 1, 2}) {
      const PlanInput input = input_of(tiny_model(), 3, rank);
      const auto setup = planner->setup(input);
      const CommPlan plan = planner->plan(input, setup, 1);
      plans.emplace_back();
      for (const Op& op : plan.ops) {
        plans.back() += describe(op, input.model, setup) + "\n";
      }
    }
    EXPECT_EQ(plans[0], plans[1]) << text;
    EXPECT_EQ(plans[0], plans[2]) << text;
  }
}

/// Ranks that have model work, the first of all.
Rank workers_of(const PlanWorld& plans) {
  Rank workers = 0;
  for (Rank rank = 0; rank < plans.ranks(); ++rank) {
    workers += std::ranges::any_of(plans.items(rank), [](const PlanWorld::Item& item) {
      return std::holds_alternative<Backward>(item.op->work);
    });
  }
  return workers;
}

/// Synchronous momentum SGD, written without a plan.
std::vector<Values> one_rank_on_the_whole_batch(const ModelShape& model, Rank world,
                                                std::vector<Values> values) {
  std::vector<Values> momentum(values.size());
  for (Step step = 0; step < kWorldSteps; ++step) {
    for (std::size_t p = 0; p < values.size(); ++p) {
      const Backward work{ParameterId{static_cast<std::int32_t>(p)}};
      Values sum(values[p].size(), 0.0);
      for (Rank rank = 0; rank < world; ++rank) {
        const Values mine = toy_gradient(rank, step, work, values[p]);
        for (std::size_t i = 0; i < sum.size(); ++i) {
          sum[i] += mine[i];
        }
      }
      momentum[p].resize(sum.size(), 0.0);
      for (std::size_t i = 0; i < sum.size(); ++i) {
        momentum[p][i] = momentum[p][i] * 0.5 + sum[i] / world;
        values[p][i] -= 0.25 * momentum[p][i];
      }
    }
  }
  PACELINE_CHECK_EQ(values.size(), model.parameters.size());
  return values;
}

// In worlds of a power of two dividing is exact, before or after the sum.
TEST(Planners, ExactStrategiesTrainLikeOneRankOnTheWholeBatch) {
  for (const std::string& text : strategy_texts()) {
    const StrategySpec spec = parse_strategy(text);
    const bool apart = text.find("apart") != std::string::npos;
    const bool pairs = text.find("local=2") != std::string::npos;
    for (const Rank world : pairs   ? std::vector<Rank>{3, 5}
                            : apart ? std::vector<Rank>{2, 3, 5}
                                    : std::vector<Rank>{1, 2, 4}) {
      if (spec.guarantee() != Guarantee::kExact) {
        continue;
      }
      const auto planner = make_planner(spec);
      const PlanWorld plans(*planner, input_of(tiny_model(), world), kWorldSteps);
      const ToyMemory start(plans);
      const ToyMemory end = meaning_of(plans);
      std::vector<Values> values;
      for (const ParameterPlacement& where : plans.setup(0).parameters) {
        values.push_back(start.read(0, where.value));
      }
      const auto expected = one_rank_on_the_whole_batch(tiny_model(), workers_of(plans), values);
      for (Rank rank = 0; rank < workers_of(plans); ++rank) {
        for (std::size_t p = 0; p < expected.size(); ++p) {
          EXPECT_EQ(end.read(rank, plans.setup(rank).parameters[p].value), expected[p])
              << text << " of " << world << ", rank " << rank;
        }
      }
    }
  }
}

/// Two ranks exchange a stamp of the step and read the partner's with slack.
HandPlanner stamps(Step slack) {
  return {
      [](const PlanInput& input) {
        SetupBuilder builder(input, {input.model.ready_order});
        builder.add_world_communicator("all");
        for (const char* name : {"mine", "landed", "theirs", "seen"}) {
          builder.add_buffer({.name = name, .elements = 1});
        }
        return std::move(builder).finish();
      },
      [slack](Program& program, Variant) {
        const auto buffer = [&](std::string_view name) {
          return whole(program.setup(), buffer_named(program.setup(), name));
        };
        const Rank peer = 1 - program.input().rank;
        program.kernel("count", {{buffer("mine")}}, {{buffer("mine")}});
        program.exchange(CommunicatorId{0}, {{peer, buffer("mine")}}, {{peer, buffer("landed")}});
        program.kernel("copy", {{buffer("landed")}}, {{buffer("theirs")}}, {1});
        program.kernel("copy", {{buffer("theirs"), slack}}, {{buffer("seen")}}, {1});
      }};
}

TEST(RandomExecutor, StalenessReachesTheSlackAndNeverPassesIt) {
  for (const Step slack : {1, 3}) {
    const HandPlanner planner = stamps(slack);
    const PlanWorld world(planner, input_of(tiny_model(), 2), 8);
    RandomExecutor executor(world);
    double stalest = 0;
    for (std::uint32_t seed = 0; seed < kSchedules; ++seed) {
      const auto failure = executor.run(seed);
      ASSERT_FALSE(failure.has_value()) << *failure;
      EXPECT_EQ(executor.seen().size(), 16u);
      for (const double steps : executor.seen()) {
        stalest = std::max(stalest, steps);
      }
    }
    EXPECT_EQ(stalest, static_cast<double>(slack));
  }
}

// Each rank's average is of values that some rank has had: no rank sees half a message, and none
// waits for ever.
TEST(RandomExecutor, MixesWhatHasArrivedUnderEverySchedule) {
  int stale = 0;
  for (const std::string& text : strategy_texts()) {
    if (!is_stale(text)) {
      continue;
    }
    ++stale;
    const auto planner = make_planner(parse_strategy(text));
    verify(*planner, input_of(tiny_model(), 3));
    const PlanWorld world(*planner, input_of(tiny_model(), 3), kWorldSteps);
    RandomExecutor executor(world);
    for (std::uint32_t seed = 0; seed < kFewSchedules; ++seed) {
      const auto failure = executor.run(seed);
      ASSERT_FALSE(failure.has_value()) << text << ", seed " << seed << ": " << *failure;
      ASSERT_EQ(executor.memory(), executor.memory()) << text << ": a NaN";
    }
  }
  EXPECT_GE(stale, 5);
}

/// Null where the strategy does not exist in the case's world.
std::unique_ptr<PlanWorld> plans_of(const Planner& planner, const Case& plan) {
  try {
    return std::make_unique<PlanWorld>(planner, plan.input(), kWorldSteps);
  } catch (const UsageError&) {
    return nullptr;
  }
}

struct Sabotage {
  int caught = 0, tried = 0;
};

/// Leaves out a tenth of the waits, three times others.
void sabotage(const std::string& name, const PlanWorld& world, const ToyMemory& expected,
              Sabotage& counts) {
  for (std::uint32_t which = 1; which <= 3; ++which) {
    RandomExecutor executor(world, 0.1, which);
    if (executor.removed() == 0) {
      continue;
    }
    bool found = false;
    for (std::uint32_t seed = 0; seed < kSchedules && !found; ++seed) {
      found = executor.run(seed).has_value() || !(executor.memory() == expected);
    }
    ++counts.tried;
    counts.caught += found ? 1 : 0;
    if (!found) {
      std::cout << "not caught: " << name << " without " << executor.removed() << " waits\n";
    }
  }
}

class SmallWorlds : public ::testing::TestWithParam<Rank> {};

// The executor must be able to fail: with a tenth of the waits left out, almost every plan must
// show a wrong result or a value used while in motion.  With all waits none does.
TEST_P(SmallWorlds, CatchesMissingHazards) {
  const auto this_many = [](const std::string&) { return GetParam(); };
  Sabotage counts;
  for (const Case& plan : GetParam() == 3 ? cases() : table_rows(this_many)) {
    const auto planner = plan.make();
    const auto world = plans_of(*planner, plan);
    if (world == nullptr) {
      continue;
    }
    const ToyMemory expected = meaning_of(*world);
    RandomExecutor intact(*world);
    for (std::uint32_t seed = 0; seed < kFewestSchedules; ++seed) {
      ASSERT_EQ(intact.run(seed), std::nullopt) << plan.name;
      ASSERT_EQ(intact.memory(), expected) << plan.name << ", seed " << seed;
    }
    sabotage(plan.name, *world, expected, counts);
  }
  std::cout << "caught " << counts.caught << " of " << counts.tried << "\n";
  EXPECT_GE(counts.caught * 100, counts.tried * 95);
  EXPECT_GT(counts.tried, 1000) << "three times each row of the tables";
}
INSTANTIATE_TEST_SUITE_P(Of, SmallWorlds, ::testing::Values(2, 3, 4),
                         ::testing::PrintToStringParamName());

}  // namespace
}  // namespace paceline::strategies
