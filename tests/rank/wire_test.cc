// SPDX-License-Identifier: Apache-2.0
#include "paceline/rank/wire.h"

#include <gtest/gtest.h>

#include "paceline/strategies/smallest_job.h"
#include "paceline/strategies/strategy.h"

namespace paceline::rank {
namespace {

std::optional<records::Warning> warning_of(const char* strategy, int warmup, int steps) {
  const auto planner = strategies::make_planner(strategies::parse_strategy(strategy));
  return partial_period_warning(*planner, strategies::smallest_job(2), warmup, steps);
}

TEST(PartialPeriod, IsSaidOfWindowsThatAreNoWholePeriods) {
  EXPECT_FALSE(warning_of("fusion", 5, 7));
  EXPECT_FALSE(warning_of("local-sgd:every=10", 3, 20));
  const auto partial = warning_of("local-sgd:every=10", 5, 15);
  ASSERT_TRUE(partial);
  EXPECT_EQ(partial->code, records::kNotWholePeriods);
  EXPECT_EQ(partial->seen, "15 steps measured, and the strategy's steps repeat after 10");
  EXPECT_TRUE(partial->advice.find("--steps 20") != std::string::npos);
}

TEST(PartialPeriod, IsInvalidWhereItLacksTheExchange) {
  const auto partial = warning_of("diloco", 5, 10);
  ASSERT_TRUE(partial);
  EXPECT_EQ(partial->code, records::kLacksExchange);
  records::RunRecord record;
  EXPECT_TRUE(record.valid());
  record.warnings = {*partial};
  EXPECT_FALSE(record.valid());
}

TEST(WireBytes, AreThoseOfAStep) {
  engines::Ledger booked;
  booked.add_call("message", 6);
  booked.add_call("message", 8);
  booked.add_call("all-reduce", 100);
  booked.add_call("all-reduce", 100);
  plan::Setup setup;
  setup.buffers.push_back({.name = "ids", .typical = 2});
  const plan::CommPlan plan;
  const records::WireBytes wire = wire_bytes_of(
      {.first = 2, .steps = 2, .setup = setup, .plan_of = [&](plan::Step) -> const auto& {
         return plan;
}
}  // namespace
,
      booked);
EXPECT_EQ(wire.by_pattern.at("message"), 7);
EXPECT_EQ(wire.by_pattern.at("all-reduce"), 100);
EXPECT_EQ(wire.measured_per_step, 107);
EXPECT_EQ(wire.calls_per_step, 2);
EXPECT_EQ(wire.planned_per_step, std::nullopt);  // lengths vary
}  // namespace paceline::rank

}  // namespace
}  // namespace paceline::rank
