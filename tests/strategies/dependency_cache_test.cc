// SPDX-License-Identifier: Apache-2.0
#include "paceline/plan/dependency_cache.h"

#include <deque>
#include <random>

#include <gtest/gtest.h>

#include "paceline/plan/frontier.h"
#include "paceline/plan/program.h"
#include "paceline/strategies/strategy.h"
#include "plan/toy_model.h"

namespace paceline::strategies {
namespace {

using SharedPlan = std::shared_ptr<const CommPlan>;

struct Planned {
  PlanInput input = input_of(toy_model({{16}, {16, 4}, {16}}), 2);
  std::unique_ptr<Planner> planner;
  Setup setup;

  explicit Planned(const char* strategy)
      : planner(make_planner(parse_strategy(strategy))), setup(planner->setup(input)) {}

  SharedPlan plan(Variant variant = 0) const {
    return std::make_shared<const CommPlan>(planner->plan(input, setup, variant));
  }
};

void complete_all(Frontier& frontier) {
  while (!frontier.idle()) {
    for (const OpRef ref : frontier.take_ready()) {
      frontier.complete(ref);
    }
  }
}

TEST(DependencyCache, StaticPlansAreLinkedOnce) {
  for (const char* strategy : {"none", "bsp", "wfbp", "fusion:bucket-mb=0"}) {
    const Planned planned(strategy);
    Frontier frontier(planned.input.model, planned.setup);
    const SharedPlan plan = planned.plan();
    for (Step t = 0; t < 20; ++t) {
      frontier.open(t, plan);
      complete_all(frontier);
    }
    EXPECT_EQ(frontier.derivation_count(), 1U) << strategy;
  }
}

TEST(DependencyCache, APlanPerVariantIsLinkedOncePerVariant) {
  const Planned planned("ddp");
  Frontier frontier(planned.input.model, planned.setup);
  const SharedPlan first = planned.plan(0), later = planned.plan(1);
  for (Step t = 0; t < 20; ++t) {
    frontier.open(t, t == 0 ? first : later);
    complete_all(frontier);
  }
  EXPECT_EQ(frontier.derivation_count(), 2U);
}

// The next step is opened before the last one is done: the first step has nothing before it, the
// second has a first one there, the third repeats.
TEST(DependencyCache, StepsThatOverlapAlikeAreLinkedAFewTimes) {
  const Planned planned("fusion:bucket-mb=0");
  Frontier frontier(planned.input.model, planned.setup);
  const SharedPlan plan = planned.plan();
  std::deque<OpRef> ready;
  frontier.open(0, plan);
  for (Step t = 1; t < 20; ++t) {
    frontier.open(t, plan);
    while (frontier.oldest().step < t) {
      for (const OpRef ref : frontier.take_ready()) {
        ready.push_back(ref);
      }
      frontier.complete(ready.front());
      ready.pop_front();
    }
  }
  EXPECT_LE(frontier.derivation_count(), 4U);
}

// As of a server, whose clients send every H-th step.
TEST(Frontier, KeepsAStepWithoutOpsBehindAnOpenOne) {
  const Planned planned("bsp");
  Frontier frontier(planned.input.model, planned.setup);
  const auto empty = std::make_shared<const CommPlan>();
  frontier.open(0, empty);
  EXPECT_TRUE(frontier.idle());
  frontier.open(1, planned.plan());
  frontier.open(2, empty);
  frontier.open(3, planned.plan());
  EXPECT_EQ(frontier.open_steps(), 3U);
  complete_all(frontier);
  frontier.open(4, planned.plan());
  EXPECT_EQ(frontier.oldest().step, 4);
}

class RandomJobs : public ::testing::TestWithParam<unsigned> {};

// Random variants, random forgetting: the dependencies are those of a DependencyAnalyzer that
// derives every step anew.
TEST_P(RandomJobs, DependenciesEqualThoseOfTheAnalyzer) {
  std::mt19937 rng(GetParam());
  const Planned planned("ddp");
  const std::vector<SharedPlan> plans{planned.plan(0), planned.plan(1), planned.plan(1)};
  DependencyCache cache(planned.input.model, planned.setup);
  DependencyAnalyzer analyzer(planned.input.model, planned.setup);
  constexpr Step kSteps = 200;
  Step forgotten = 0;
  for (Step t = 0; t < kSteps; ++t) {
    const SharedPlan& plan = plans[rng() % plans.size()];
    const Dependencies expected = analyzer.open(t, *plan);
    Dependencies dependencies = *cache.open(plan);
    for (auto* lists : {&dependencies.waits_for, &dependencies.excludes}) {
      for (auto& list : *lists) {
        for (Edge& edge : list) {
          edge.step += t;
        }
      }
    }
    EXPECT_EQ(dependencies.waits_for, expected.waits_for) << "step " << t;
    EXPECT_EQ(dependencies.excludes, expected.excludes) << "step " << t;
    if (const auto to = t + 1 - static_cast<Step>(rng() % 3); to > forgotten) {
      forgotten = to;
      analyzer.forget_before(forgotten);
      cache.forget_before(forgotten - (t + 1));
    }
  }
  EXPECT_LT(cache.derived(), static_cast<std::size_t>(kSteps));
}
INSTANTIATE_TEST_SUITE_P(Seeds, RandomJobs, ::testing::Range(0U, 5U));

}  // namespace
}  // namespace paceline::strategies
