// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "simulator/toy.h"

namespace paceline::simulator {
namespace {

TEST(Timeline, WithoutCommunicationStepsFollowEachOther) {
  const auto input = toy_input(3, 1);
  const StepTimes times =
      simulate(*planner_of("none"), input, toy_costs(input));
  EXPECT_EQ(times.step, 90 * kUs);
  EXPECT_EQ(times.compute, 90 * kUs);
  EXPECT_TRUE(times.steady);
}

// bsp: one all-reduce of 3 * 1024 bytes behind backward; a ring of two sends
// 3072 bytes at 1 byte per ns.
TEST(Timeline, BspAddsTheWholeAllReduce) {
  const auto input = toy_input(3, 2);
  const StepTimes times = simulate(*planner_of("bsp"), input, toy_costs(input));
  EXPECT_EQ(times.step, 90 * kUs + 3'072'000);
}

// wfbp: the all-reduces of 1.024 us hide behind the next backward of 20 us; the
// last one is seen.
TEST(Timeline, WfbpShowsTheLastAllReduce) {
  const auto input = toy_input(3, 2);
  const StepTimes times =
      simulate(*planner_of("wfbp"), input, toy_costs(input));
  EXPECT_EQ(times.step, 90 * kUs + 1'024'000);
}

TEST(Timeline, SlowLinksQueueBehindBackward) {
  const auto input = toy_input(3, 2);
  Costs costs = toy_costs(input);
  costs.machine.device.bytes_per_s = 10'000'000;  // 102.4 us a tensor
  const StepTimes times = simulate(*planner_of("wfbp"), input, costs);
  EXPECT_EQ(times.step, 30 * kUs + 20 * kUs + 3 * 102'400'000);
}

}  // namespace
}  // namespace paceline::simulator
