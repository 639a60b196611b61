// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "simulator/toy.h"

namespace paceline::simulator {
namespace {

TEST(Timeline, WithoutCommunicationStepsFollowEachOther) {
  const auto input = toy_input(3, 1);
  const StepTimes times = simulate(*planner_of("none"), input, toy_costs(input));
  EXPECT_EQ(times.step, 90 * kUs);
  EXPECT_EQ(times.compute, 90 * kUs);
  EXPECT_TRUE(times.steady);
}

// bsp: one all-reduce of 3 * 1024 bytes behind backward; a ring of two sends 3072 bytes at 1 byte
// per ns.
TEST(Timeline, BspAddsTheWholeAllReduce) {
  const auto input = toy_input(3, 2);
  const StepTimes times = simulate(*planner_of("bsp"), input, toy_costs(input));
  EXPECT_EQ(times.step, 90 * kUs + 3'072'000);
}

// wfbp: the all-reduces of 1.024 us hide behind the next backward of 20 us; the last one is seen.
TEST(Timeline, WfbpShowsTheLastAllReduce) {
  const auto input = toy_input(3, 2);
  const StepTimes times = simulate(*planner_of("wfbp"), input, toy_costs(input));
  EXPECT_EQ(times.step, 90 * kUs + 1'024'000);
}

TEST(Timeline, SlowLinksQueueBehindBackward) {
  const auto input = toy_input(3, 2);
  Costs costs = toy_costs(input);
  costs.machine.device.bytes_per_s = 10'000'000;  // 102.4 us a tensor
  const StepTimes times = simulate(*planner_of("wfbp"), input, costs);
  EXPECT_EQ(times.step, 30 * kUs + 20 * kUs + 3 * 102'400'000);
}

/// wfbp of three layers, where the second all-reduce has a communicator of its own, and priority 1.
class OnTwoCommunicators final : public plan::Planner {
 public:
  explicit OnTwoCommunicators(std::int32_t priority_of_third)
      : priority_of_third_(priority_of_third) {}

  plan::Setup setup(const plan::PlanInput& input) const override {
    plan::Setup setup = wfbp_->setup(input);
    setup.communicators.push_back(setup.communicators.front());
    setup.communicators.back().name = "other";
    return setup;
  }
  plan::Variant variant(const plan::PlanInput&, plan::Step) const override { return 0; }
  plan::CommPlan plan(const plan::PlanInput& input, const plan::Setup& setup,
                      plan::Variant variant) const override {
    plan::CommPlan plan = wfbp_->plan(input, setup, variant);
    std::vector<plan::Op*> reduces;
    for (plan::Op& op : plan.ops) {
      if (std::holds_alternative<plan::Collective>(op.work)) {
        reduces.push_back(&op);
      }
    }
    std::get<plan::Collective>(reduces.at(1)->work).on = plan::CommunicatorId{1};
    reduces.at(1)->priority = 1;
    reduces.at(2)->priority = priority_of_third_;
    return plan;
  }

 private:
  std::unique_ptr<plan::Planner> wfbp_ = planner_of("wfbp");
  std::int32_t priority_of_third_;
};

/// When each all-reduce of the first step is issued and ends; `of_transfers`: begins to cross and
/// ends.
std::vector<RunInterval> all_reduces(const plan::Planner& planner, const plan::PlanInput& input,
                                     const Costs& costs, bool of_transfers) {
  const Job job = compile(planner, input, {.steps = 2});
  Simulator simulator(job);
  simulator.run(costs);
  std::vector<RunInterval> ran;
  for (ItemId id = 0; id < job.actors[0].steps[1]; ++id) {
    const Item& item = job.items[id];
    if (item.kind == ItemKind::kCollective) {
      ran.push_back(of_transfers ? simulator.transfers()[job.transfers_by_item[item.first_transfer]]
                                 : simulator.items()[id]);
    }
  }
  return ran;
}

// A rank that takes 100 us to issue an op has two to choose from when it has issued the first.
TEST(Timeline, CommunicatorsIssueByPriorityThenInProgramOrder) {
  const auto input = toy_input(3, 2);
  Costs costs = toy_costs(input);
  costs.software.issue = 100 * kUs;
  for (const bool one_order : {false, true}) {
    costs.software.one_issue_order = one_order;
    for (const std::int32_t priority : {0, 1}) {
      const auto ran = all_reduces(OnTwoCommunicators(priority), input, costs, false);
      ASSERT_EQ(ran.size(), 3U);
      EXPECT_EQ(ran[0].begin, (30 + 20) * kUs);
      EXPECT_EQ(ran[1].begin < ran[2].begin, one_order || priority == 1);
    }
  }
}

// NCCL's: what is on different communicators shares the link elsewhere.
TEST(Timeline, OneIssueOrderIsOneOperationAtATime) {
  const auto input = toy_input(3, 2);
  Costs costs = toy_costs(input);
  costs.machine.device.bytes_per_s = 10'000'000;  // 102.4 us a tensor
  const plan::Picoseconds first = (30 + 20) * kUs, each = 102'400'000;
  costs.software.one_issue_order = true;
  const auto ran = all_reduces(OnTwoCommunicators(0), input, costs, true);
  ASSERT_EQ(ran.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    const auto turn = static_cast<plan::Picoseconds>(i);
    EXPECT_EQ(ran[i].begin, first + turn * each) << i;
    EXPECT_EQ(ran[i].end, first + (turn + 1) * each) << i;
  }
  costs.software.one_issue_order = false;
  const auto shared = all_reduces(OnTwoCommunicators(0), input, costs, true);
  EXPECT_EQ(shared[1].begin, first + 20 * kUs) << "when it is ready";
  EXPECT_EQ(shared[0].end, first + each + each - 20 * kUs) << "at half the rate";
}

}  // namespace
}  // namespace paceline::simulator
