// SPDX-License-Identifier: Apache-2.0
#include "paceline/plan/serving.h"

#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "plan/toy_model.h"

namespace paceline::plan {
namespace {

PlanInput input_of(Rank world) {
  PlanInput input;
  input.model = small_model();
  input.world = world;
  return input;
}

Serving serving_of(Rank servers, bool colocated) {
  const std::string mebibytes = "1";
  return {.servers = servers,
          .colocated = colocated,
          .partition =
              PartitionLimit("ps", Options({{"partition-mb", mebibytes}}))};
}

TEST(Serving, TheLastRanksServeApart) {
  const Roles roles = roles_of(serving_of(3, false), input_of(8));
  EXPECT_EQ(roles.workers, 5);
  EXPECT_EQ(roles.servers, 3);
  EXPECT_EQ(roles.first_server, 5);
  EXPECT_EQ(roles.copies(), 5);
  EXPECT_EQ(roles.only_working().first, 0);
  EXPECT_EQ(roles.only_working().count, 5);
}

TEST(Serving, OnlyRanksWithoutPartitionsMayChangePlaces) {
  const Roles roles = roles_of(serving_of(2, true), input_of(8));
  EXPECT_EQ(roles.workers, 8);
  EXPECT_EQ(roles.copies(), 7);  // its own is there
  EXPECT_EQ(roles.only_working().first, 2);
  EXPECT_EQ(roles.only_working().count, 6);
}

TEST(Serving, ALateServerHoldsUpNoOther) {
  for (const char* text :
       {"wfbp+ps", "bytescheduler:credit-mb=1,partition-mb=1+ps"}) {
    const auto planner = make_planner(parse_strategy(text));
    const plan::Setup setup = planner->setup(input_of(4));
    const auto named = [&](const char* name) {
      return setup.communicators[static_cast<std::size_t>(
          index_of(communicator_named(setup, name)))];
    };
    const bool limited =
        named("push").credit_bytes < std::numeric_limits<std::int64_t>::max();
    EXPECT_EQ(limited, std::string(text).starts_with("bytescheduler"));
    EXPECT_EQ(named("push").order, Order::kProgram) << text;
    EXPECT_EQ(named("pull").order, Order::kPriority) << text;
    EXPECT_EQ(named("pull").credit_bytes,
              std::numeric_limits<std::int64_t>::max())
        << text;
  }
}

}  // namespace
}  // namespace paceline::plan
