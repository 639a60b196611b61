// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "sim/toy.h"

namespace paceline::sim {
namespace {

// Ranks that serve spend their credit on what they push while others push to
// them: what they receive needs none.
TEST(Credit, IsForWhatARankSends) {
  const auto planner = planner_of(
      "bytescheduler:partition-mb=0.0003,order=priority,credit-mb=0"
      "+ps");
  for (const plan::Rank world : {2, 3, 5}) {
    const auto input = toy_input(4, world);
    EXPECT_GT(simulate(*planner, input, toy_costs(input)).step, 0) << world;
  }
}

}  // namespace
}  // namespace paceline::sim
