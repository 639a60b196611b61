// SPDX-License-Identifier: Apache-2.0
#include "paceline/measure/agreement.h"

#include <string>

#include <gtest/gtest.h>

#include "paceline/strategies/strategy.h"
#include "plan/toy_model.h"

namespace paceline::measure {
namespace {

std::int64_t digest_for(const std::string& strategy) {
  const auto planner =
      strategies::make_planner(strategies::parse_strategy(strategy));
  plan::PlanInput input;
  input.model = plan::small_model();
  input.world = 2;
  return digest_of(
             *planner, input, planner->setup(input), plan::CommunicatorId{0})
      .collectives;
}

TEST(PlanDigest, DiffersWherePlansDifferLongAfterTheFirstSteps) {
  const std::string rule = "fusion+parameter-allreduce+local-sgd:every=";
  EXPECT_EQ(digest_for(rule + "100"), digest_for(rule + "100"));
  EXPECT_NE(digest_for(rule + "100"), digest_for(rule + "200"));
}

}  // namespace
}  // namespace paceline::measure
