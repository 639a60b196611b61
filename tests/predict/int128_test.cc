// SPDX-License-Identifier: Apache-2.0
#include "paceline/plan/int128.h"

#include <gtest/gtest.h>

#include "paceline/base/error.h"
#include "paceline/simulator/simulate.h"
#include "simulator/toy.h"

namespace paceline::predict {
namespace {

using simulator::kUs;

TEST(Whole, TransfersEndWithinTime) {
  EXPECT_EQ(plan::wire_time(4'611'686, 1), 4'611'686 * plan::Picoseconds{1'000'000'000'000});
  EXPECT_THROW(plan::wire_time(4'611'687, 1), UsageError);
  EXPECT_EQ(plan::wire_time(9'000'000'000'000'000'000, 100'000'000'000'000),
            90'000 * plan::Picoseconds{1'000'000'000'000});
}

TEST(Whole, NoTimeIsBeyondTheEnd) {
  EXPECT_EQ(plan::picoseconds_of(4'500'000), 4'500'000 * plan::Picoseconds{1'000'000'000'000});
  EXPECT_THROW(plan::picoseconds_of(4'700'000), UsageError);
}

TEST(Whole, TimeEndsInOneSentence) {
  const auto input = simulator::toy_input(1, 2);
  simulator::Costs costs = simulator::toy_costs(input);
  costs.profile.forward[0] = plan::kEndOfTime - 20 * kUs;
  const simulator::Job job =
      simulator::compile(*simulator::planner_of("none"), input, {.steps = 2});
  try {
    simulator::Simulator(job).run(costs);
    FAIL() << "no error";
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(),
                 "the simulated time is longer than 53 days; give faster links or a smaller job");
  }
}

// A share of 2^16 of a backward of 200 s needs more than 64 bits.  The last but one all-reduce runs
// under it, at half its speed.
TEST(Whole, LongLayersSlowDownExactly) {
  const auto input = simulator::toy_input(2, 2);
  simulator::Costs costs = simulator::toy_costs(input);
  constexpr plan::Picoseconds kLong = 200'000'000 * kUs;
  costs.profile.backward.assign(2, kLong);
  costs.machine.interference.compute_under_transfer = 0.5;
  EXPECT_EQ(simulator::simulate(*simulator::planner_of("wfbp"), input, costs).step,
            20 * kUs + 2 * kLong + 512'000 + 1'024'000);
}

}  // namespace
}  // namespace paceline::predict
