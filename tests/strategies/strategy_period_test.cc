// SPDX-License-Identifier: Apache-2.0
#include "paceline/strategies/strategy_period.h"

#include <string>

#include <gtest/gtest.h>

#include "paceline/base/error.h"
#include "paceline/plan/period.h"
#include "paceline/strategies/smallest_job.h"

namespace paceline::strategies {
namespace {

Step period(const std::string& text, Rank world) {
  return period_of(parse_strategy(text), world, {});
}

TEST(StrategyPeriod, IsThatOfTheWork) {
  EXPECT_EQ(period("fusion", 4), 1);
  EXPECT_EQ(period("none", 4), 1);
  EXPECT_EQ(period("ddp", 4), 1);         // but for step 0
  EXPECT_EQ(period("python-ddp", 4), 1);  // has no plan
  EXPECT_EQ(period("local-sgd:every=10", 2), 10);
  EXPECT_EQ(period("local-sgd:every=10", 1), 1);  // exchanges nothing
  EXPECT_EQ(period("mg-wfbp+all-reduce+local-sgd:every=10", 2), 10);
  EXPECT_EQ(period("diloco", 2), 30);
  EXPECT_EQ(period("diloco:every=8,fragments=4,delay=1", 2), 8);
  EXPECT_EQ(period("slowmo", 2), 12);
  EXPECT_EQ(period("neighbor-allreduce:topology=ring+pga", 4), 48);
  EXPECT_EQ(period("neighbor-allreduce:topology=ring+decentlam", 4), 1);
  EXPECT_EQ(period("neighbor-allreduce", 8), 3);  // 1, 2, 4 ahead
  // The graph goes on by exchanges, one every second step.
  EXPECT_EQ(period("neighbor-allreduce+local-sgd:every=2", 8), 6);
  // Its variants differ in the buffers of its slots alone.
  EXPECT_EQ(period("win-put:topology=ring,slots=4", 4), 1);
  EXPECT_EQ(period("bsp+qsgd", 4), 1);
  EXPECT_THROW(period("hierarchical:local=2", 3), UsageError);
}

bool lacks(const std::string& text, Rank world, Step first, Step steps) {
  const auto planner = make_planner(parse_strategy(text));
  return plan::misses_traffic_of_period(*planner, smallest_job(world), first, steps);
}

TEST(StrategyPeriod, AWindowLacksWhatOtherStepsAloneSend) {
  EXPECT_TRUE(lacks("bsp+local-sgd:every=10", 2, 5, 4));  // the 10th is step 9
  EXPECT_FALSE(lacks("bsp+local-sgd:every=10", 2, 5, 5));
  EXPECT_FALSE(lacks("bsp+local-sgd:every=10", 2, 0, 25));
  const std::string pga = "bsp+neighbor-allreduce:topology=ring+pga:every=10";
  EXPECT_TRUE(lacks(pga, 4, 5, 4)) << "the mean over all";
  EXPECT_FALSE(lacks(pga, 4, 5, 6));
  EXPECT_TRUE(lacks("bsp+local-sgd:every=10", 2, 9, 1)) << "steps without it";
  // Equal bytes to another neighbor in each step.
  EXPECT_FALSE(lacks("bsp+neighbor-allreduce", 8, 0, 1));
  EXPECT_FALSE(lacks("ddp", 2, 5, 1));
}

}  // namespace
}  // namespace paceline::strategies
