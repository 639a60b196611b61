// SPDX-License-Identifier: Apache-2.0
#include "../../benchmarks/schedules/overlap_bound.h"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "paceline/base/error.h"
#include "paceline/plan/int128.h"
#include "paceline/predict/bound.h"
#include "paceline/strategies/strategy.h"
#include "simulator/toy.h"

namespace paceline::predict {
namespace {

/// A module of 10 us forward for each entry, one parameter of so many elements in each, 20 us
/// backward.
plan::PlanInput network(const std::vector<plan::Elements>& elements, plan::Rank world) {
  plan::PlanInput input = simulator::toy_input(static_cast<int>(elements.size()), world);
  for (std::size_t i = 0; i < elements.size(); ++i) {
    input.model.parameters[i].elements = elements[i];
    input.model.parameters[i].sizes = {elements[i]};
  }
  const plan::AlphaBetaTime line = plan::alpha_beta_time_of(1e-6, 1e-9);
  input.alpha_beta = plan::AlphaBeta{.origin = "test",
                                     .world = world,
                                     .all_reduce = line,
                                     .reduce_scatter = line,
                                     .all_gather = line,
                                     .broadcast = line,
                                     .message = line};
  return input;
}

struct Case {
  Bound bound;
  plan::Picoseconds overlap = 0;
  simulator::StepTimes times;
};

Case run(const std::string& strategy, const plan::PlanInput& input, const simulator::Costs& costs) {
  const simulator::Job job =
      simulator::compile(*simulator::planner_of(strategy), input, {.steps = 8});
  const Bound bound = bound_of(job, costs);
  return {.bound = bound,
          .overlap =
              bound.crosses_step ? simulator::overlap_bound_of(job, costs, bound.step) : bound.step,
          .times = simulator::Simulator(job).run(costs)};
}

TEST(OverlapBound, IsTheLongestOfAllWindows) {
  // Compute 100: forward to 40, gradients at 60, 80 and 100.
  const simulator::OverlapLink link{.bytes_per_s = 1'000'000'000'000,  // 1 a ps
                                    .bytes = {{60, 30, 5}, {80, 10, 7}, {100, 0, 11}}};
  // All: 60 - 30 + 23; the last two: 80 - 10 + 18; the last: 100 - 0 + 11.
  EXPECT_EQ(simulator::overlap_bound(link), 111);
  EXPECT_EQ(simulator::overlap_bound({.bytes_per_s = 1'000'000'000'000,
                                      .bytes = {{60, 30, 5}, {80, 10, 70}, {100, 0, 1}}}),
            80 - 10 + 71);
  EXPECT_EQ(simulator::overlap_bound({.bytes_per_s = 500'000'000'000,
                                      .bytes = {{60, 30, 500}, {80, 10, 7}, {100, 0, 11}}}),
            60 - 30 + 2 * 518);
  EXPECT_EQ(simulator::overlap_bound({}), 0);
}

// Two ranks: a ring of two sends each byte once, at 1 a ns.
TEST(OverlapBound, HoldsWhatIsReadyLastAndNeededFirst) {
  const plan::PlanInput input = network({1'600, 160}, 2);
  const Case toy = run("fusion:bucket-mb=0", input, simulator::toy_costs(input));
  EXPECT_TRUE(toy.bound.crosses_step);
  EXPECT_EQ(toy.bound.step, 60 * simulator::kUs);
  // The first module's gradient ends the backward, and its forward begins the next step: 6400 bytes
  // hide behind nothing.
  EXPECT_EQ(toy.overlap, 60 * simulator::kUs + 6'400'000);
  EXPECT_EQ(toy.times.step, toy.overlap);
}

TEST(OverlapBound, CountsWhatManyModulesWantTogether) {
  const plan::PlanInput input = network({16, 160'000}, 2);
  const Case toy = run("fusion:bucket-mb=0", input, simulator::toy_costs(input));
  // Both gradients cross between the first at 40 us and the second module's forward at 10 us.
  EXPECT_EQ(toy.bound.step, (640'000 + 64) * 1'000LL);
  EXPECT_EQ(toy.overlap, 30 * simulator::kUs + (640'000 + 64) * 1'000LL);
}

TEST(OverlapBound, IsTheTwoTermBoundWhereNoGateHolds) {
  plan::PlanInput input = network({160, 1'600, 160}, 2);
  // The last gradient is the last module's: all cross under the forward.
  input.model.ready_order = {plan::ParameterId{0}, plan::ParameterId{1}, plan::ParameterId{2}};
  const Case toy = run("fusion:bucket-mb=0", input, simulator::toy_costs(input));
  EXPECT_EQ(toy.overlap, toy.bound.step);
  EXPECT_EQ(toy.bound.step, 90 * simulator::kUs);
  // All of it in the step: forward + first gradient + wire is the gate, too.
  const plan::PlanInput within = network({1'600, 160'000}, 2);
  const Case bulk = run("wfbp", within, simulator::toy_costs(within));
  EXPECT_FALSE(bulk.bound.crosses_step);
  EXPECT_EQ(bulk.overlap, bulk.bound.step);
}

TEST(OverlapBound, DependsOnTheBytesAndNotOnHowTheyAreCut) {
  const plan::PlanInput input = network({64'000, 32'000, 16'000, 16'000}, 4);
  const simulator::Costs costs = simulator::toy_costs(input);
  const Case single = run("fusion:bucket-mb=0", input, costs);
  for (const char* strategy :
       {"fusion:bucket-mb=0.125", "optimal-merge", "bytescheduler:partition-mb=0.0625",
        "dear:bucket-mb=0.125", "dear:bucket-mb=0", "fusion:bucket-mb=0+rs-ag"}) {
    EXPECT_EQ(run(strategy, input, costs).overlap, single.overlap) << strategy;
  }
}

std::vector<std::string> strategies() {
  std::vector<std::string> all;
  for (const auto& row : strategies::schedules()) {
    for (const auto& exchange : strategies::exchanges()) {
      for (const char* update : {"", "+atc", "+awc", "+bf16"}) {
        all.push_back(fmt::format("{}+{}{}", row.name, exchange.name, update));
      }
    }
  }
  for (const auto& row : strategies::whole_strategies()) {
    if (row.make != nullptr) {
      all.emplace_back(row.name);
    }
  }
  return all;
}

TEST(OverlapBound, IsBeatenByNoStrategy) {
  std::mt19937 rng(3);
  const auto up_to = [&](std::uint32_t most) {
    return static_cast<std::int64_t>(1 + rng() % most);
  };
  int sharper = 0, checked = 0;
  for (const std::string& strategy : strategies()) {
    for (int n = 0; n < 4; ++n) {
      std::vector<plan::Elements> elements(2 + rng() % 5);
      for (plan::Elements& one : elements) {
        one = up_to(20'000);
      }
      plan::PlanInput input = network(elements, 4);
      std::shuffle(input.model.ready_order.begin(), input.model.ready_order.end(), rng);
      input.local_world = n % 2 == 0 ? simulator::hosts_of(4, 2) : simulator::hosts_of(4, 4);
      simulator::Costs costs = simulator::toy_costs(input);
      for (auto* times : {&costs.profile.forward, &costs.profile.backward}) {
        for (plan::Picoseconds& time : *times) {
          time = up_to(30) * simulator::kUs;
        }
      }
      input.profile = costs.profile;
      costs.machine.network.bytes_per_s = up_to(2'000) * 1'000'000;
      costs.machine.network.latency = up_to(3) * simulator::kUs;
      costs.software.concurrent_collectives = rng() % 2 == 0 ? 1 : 0;
      Case one;
      try {
        one = run(strategy, input, costs);
      } catch (const UsageError&) {
        continue;  // a combination or a world that the strategy rejects
      }
      EXPECT_GE(one.overlap, one.bound.step) << strategy;
      if (one.times.steady) {
        EXPECT_GE(one.times.step, one.overlap) << strategy;
        sharper += one.overlap > one.bound.step ? 1 : 0;
        ++checked;
      }
    }
  }
  EXPECT_GT(checked, 100);
  EXPECT_GT(sharper, 20) << "or the test says little";
}

}  // namespace
}  // namespace paceline::predict
