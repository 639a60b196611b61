// SPDX-License-Identifier: Apache-2.0
#include "paceline/plan/dependency_analyzer.h"

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "paceline/plan/program.h"
#include "paceline/strategies/strategy.h"
#include "plan/toy_model.h"

namespace paceline::strategies {
namespace {

using Refs = std::vector<Edge>;

/// Every op's kind and number, in the order of fusion's plan for three buckets.
struct FusionPlan {
  PlanInput input = input_of(toy_model({{16}, {16}, {16}}), 2);
  Setup setup;
  CommPlan plan;

  FusionPlan() {
    const auto planner = make_planner(parse_strategy("fusion:bucket-mb=0"));
    setup = planner->setup(input);
    plan = planner->plan(input, setup, 0);
  }
};

// 0 1 2: forward; 3 4 5: backward of p2 p1 p0; 6 8 10: all-reduce; 7 9 11: update.
TEST(DependencyAnalyzer, FusionOverlapsAllThatTheHazardsAllow) {
  const FusionPlan fusion;
  DependencyAnalyzer analyzer(fusion.input.model, fusion.setup);
  const Dependencies first = analyzer.open(0, fusion.plan);
  EXPECT_EQ(first.waits_for[0], Refs{});
  EXPECT_EQ(first.waits_for[6], (Refs{{0, 3}}));
  EXPECT_EQ(first.waits_for[8], (Refs{{0, 4}}));
  EXPECT_EQ(first.waits_for[7], (Refs{{0, 6}}));
  EXPECT_EQ(first.waits_for[11], (Refs{{0, 10}}));
  const Dependencies second = analyzer.open(1, fusion.plan);
  EXPECT_EQ(second.waits_for[0], (Refs{{0, 11}})) << "its own bucket's update";
  EXPECT_EQ(second.waits_for[2], (Refs{{0, 7}}));
  EXPECT_EQ(second.waits_for[3], Refs{}) << "follows from the forward phase";
  EXPECT_EQ(second.waits_for[7], (Refs{{1, 6}}));
  for (const auto& excluded : second.excludes) {
    EXPECT_TRUE(excluded.empty());
  }
}

TEST(DependencyAnalyzer, BspWaitsForEveryBackwardAndGatesEveryForwardByOneUpdate) {
  const PlanInput input = input_of(small_model(), 2);
  const auto planner = make_planner(parse_strategy("bsp"));
  const auto setup = planner->setup(input);
  const CommPlan plan = planner->plan(input, setup, 0);
  DependencyAnalyzer analyzer(input.model, setup);
  const Dependencies first = analyzer.open(0, plan);
  EXPECT_EQ(first.waits_for[11].size(), 7u) << "no order among Backward";
  EXPECT_EQ(first.waits_for[12], (Refs{{0, 11}}));
  const Dependencies second = analyzer.open(1, plan);
  for (std::size_t m = 0; m < 4; ++m) {
    EXPECT_EQ(second.waits_for[m], (Refs{{0, 12}}));
  }
}

TEST(DependencyAnalyzer, AfterIsAWait) {
  FusionPlan fusion;
  fusion.plan.ops[6].after = {5};
  DependencyAnalyzer analyzer(fusion.input.model, fusion.setup);
  EXPECT_EQ(analyzer.open(0, fusion.plan).waits_for[6], (Refs{{0, 3}, {0, 5}}));
}

TEST(DependencyAnalyzer, StatisticsAreWrittenByForward) {
  FusionPlan fusion;
  fusion.setup.buffers.push_back({.name = "statistics", .elements = 3});
  const auto buffer = BufferId{static_cast<std::int32_t>(fusion.setup.buffers.size() - 1)};
  fusion.setup.statistics = {{buffer, 0, 1}, {buffer, 1, 0}, {buffer, 1, 2}};
  fusion.plan.ops.push_back({.work = Kernel{"copy", {{{buffer, 0, 3}}}, {{{buffer, 0, 3}}}, {1}}});
  DependencyAnalyzer analyzer(fusion.input.model, fusion.setup);
  const Dependencies dependencies = analyzer.open(0, fusion.plan);
  EXPECT_EQ(dependencies.waits_for.back(), (Refs{{0, 0}, {0, 2}}));
}

/// Two slices of a buffer, read and written with slack.
Op slack_op(Step slack, bool write) {
  Kernel kernel{"copy", {}, {}, {}};
  (write ? kernel.writes : kernel.reads).push_back({{BufferId{0}, 0, 4}, slack});
  return {.work = kernel};
}

TEST(DependencyAnalyzer, SlackWaitsForOldWritesAndExcludesNewOnes) {
  const PlanInput input = input_of(toy_model({{4}}), 1);
  const auto setup = SetupBuilder(input, {input.model.ready_order}).finish();
  DependencyAnalyzer analyzer(input.model, setup);
  const CommPlan plan{{slack_op(0, true), slack_op(2, false)}};
  for (Step t = 0; t < 6; ++t) {
    const Dependencies dependencies = analyzer.open(t, plan);
    Refs old, young;
    if (t >= 2) {
      old.push_back({t - 2, 0});
    }
    for (Step s = std::max<Step>(0, t - 1); s <= t; ++s) {
      young.push_back({s, 0});
    }
    EXPECT_EQ(dependencies.waits_for[1], old) << t;
    EXPECT_EQ(dependencies.excludes[1], young) << t;
    Refs readers;
    for (Step s = std::max<Step>(0, t - 1); s < t; ++s) {
      readers.push_back({s, 1});
    }
    EXPECT_EQ(dependencies.excludes[0], readers) << t;
  }
}

TEST(DependencyAnalyzer, HistoryStaysBounded) {
  const FusionPlan fusion;
  DependencyAnalyzer analyzer(fusion.input.model, fusion.setup);
  std::size_t size = 0;
  for (Step t = 0; t < 50; ++t) {
    analyzer.open(t, fusion.plan);
    analyzer.forget_before(t);
    if (t == 3) {
      size = analyzer.history_size();
    }
  }
  EXPECT_EQ(analyzer.history_size(), size);
}

TEST(DependencyAnalyzer, LinksNameNothingForgotten) {
  const FusionPlan fusion;
  DependencyAnalyzer analyzer(fusion.input.model, fusion.setup);
  analyzer.open(0, fusion.plan);
  analyzer.forget_before(1);
  for (const Refs& waits : analyzer.open(1, fusion.plan).waits_for) {
    for (const Edge& ref : waits) {
      EXPECT_EQ(ref.step, 1);
    }
  }
}

/// Compares dependencies with all pairs of conflicting ops, found the slow way.
class RandomPlans : public ::testing::TestWithParam<int> {
 protected:
  static constexpr int kOps = 24;
  static constexpr Step kSteps = 6;

  Op random_op() {
    Kernel kernel{"mix", {}, {}, {}};
    for (auto* list : {&kernel.reads, &kernel.writes}) {
      for (auto n = rng_() % 3; n > 0; --n) {
        const auto begin = static_cast<Elements>(rng_() % 20);
        const auto count = static_cast<Elements>(rng_() % 10);
        const auto slack = max_slack_ == 0 ? 0 : static_cast<Step>(rng_() % 4 == 0) * max_slack_;
        list->push_back({{BufferId{0}, begin, count}, slack});
      }
    }
    return {.work = kernel};
  }

  /// 0: none, 1: exclude, 2: wait
  int relation(const Accesses& accesses, Edge later, Edge earlier) {
    std::vector<AccessedRange> a, b;
    accesses.of(plan_.ops[static_cast<std::size_t>(later.op)], a);
    accesses.of(plan_.ops[static_cast<std::size_t>(earlier.op)], b);
    int result = 0;
    for (const AccessedRange& x : a) {
      for (const AccessedRange& y : b) {
        if ((x.write || y.write) && overlap(x.slice, y.slice)) {
          const bool strict = later.step - earlier.step >= std::max(x.slack, y.slack);
          result = std::max(result, strict ? 2 : 1);
        }
      }
    }
    return result;
  }

  std::mt19937 rng_{static_cast<std::uint32_t>(GetParam())};
  Step max_slack_ = GetParam() % 3;  // 0, 1, 2
  CommPlan plan_;
};

TEST_P(RandomPlans, LinksReachAllHazardsAndNothingElse) {
  PlanInput input = input_of(toy_model({{40}}), 1);
  const auto setup = SetupBuilder(input, {input.model.ready_order}).finish();
  for (int i = 0; i < kOps; ++i) {
    plan_.ops.push_back(random_op());
  }
  // The largest slack shows from the first step on.
  plan_.ops.push_back({.work = Kernel{"mix", {{{BufferId{0}, 0, 1}, max_slack_}}, {}, {}}});
  const Accesses accesses(input.model, setup);
  DependencyAnalyzer analyzer(input.model, setup);
  std::map<Edge, std::set<Edge>> reached, excluded;
  Refs all;
  for (Step t = 0; t < kSteps; ++t) {
    const Dependencies dependencies = analyzer.open(t, plan_);
    for (std::size_t i = 0; i < plan_.ops.size(); ++i) {
      const Edge me{t, static_cast<OpIndex>(i)};
      for (const Edge& ref : dependencies.waits_for[i]) {
        EXPECT_EQ(relation(accesses, me, ref), 2) << "waits for no hazard";
        reached[me].insert(ref);
        reached[me].insert(reached[ref].begin(), reached[ref].end());
      }
      excluded[me].insert(dependencies.excludes[i].begin(), dependencies.excludes[i].end());
      for (const Edge& earlier : all) {
        const int kind = relation(accesses, me, earlier);
        EXPECT_TRUE(kind != 2 || reached[me].contains(earlier))
            << "step " << t << " op " << i << " misses step " << earlier.step << " op "
            << earlier.op;
        EXPECT_TRUE(kind != 1 || reached[me].contains(earlier) || excluded[me].contains(earlier));
      }
      all.push_back(me);
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Seeds, RandomPlans, ::testing::Range(0, 18));

}  // namespace
}  // namespace paceline::strategies
