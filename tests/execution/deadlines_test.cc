// SPDX-License-Identifier: Apache-2.0
#include "paceline/execution/deadlines.h"

#include <stdexcept>

#include <gtest/gtest.h>

#include "execution/tiny_plan.h"

namespace paceline::execution {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace)
using std::chrono::nanoseconds;

TEST(Deadlines, TheLimitIsTenTimesTheSlowestStepOrOneBehindTheTimeout) {
  Deadlines deadlines(nanoseconds(100), nanoseconds(20));
  EXPECT_EQ(deadlines.limit().count(), 200) << "by the expected first step";
  deadlines.begin_step(1000);
  deadlines.begin_step(1030);
  EXPECT_EQ(deadlines.limit().count(), 300);
  deadlines.begin_step(1035);
  EXPECT_EQ(deadlines.limit().count(), 300) << "a quicker step changes nothing";
  EXPECT_EQ(Deadlines(nanoseconds(100), nanoseconds(7)).limit().count(), 107);
  EXPECT_EQ(Deadlines(nanoseconds(100), nanoseconds(0)).limit().count(), 100);
}

TEST(Deadlines, ASlowStepIsForgotten) {
  Deadlines deadlines(nanoseconds(100'000), nanoseconds(1000));
  deadlines.begin_step(0);
  deadlines.begin_step(320'000);
  EXPECT_EQ(deadlines.limit().count(), 3'200'000);
  deadlines.begin_step(320'100);
  EXPECT_EQ(deadlines.limit().count(), 3'100'000);
  for (int step = 2; step < 300; ++step) {
    deadlines.begin_step(320'000 + step * 100);
  }
  EXPECT_EQ(deadlines.limit().count(), 101'000) << "by the first step";
}

TEST(Deadlines, TimeInWhichTheProcessWasStoppedCountsNothing) {
  const auto s = [](int seconds) { return seconds * 1'000'000'000LL; };
  Deadlines deadlines(nanoseconds(s(5)), nanoseconds(0), nanoseconds(s(5)));
  deadlines.update_clock(s(10));
  deadlines.begin_step(s(10));
  deadlines.update_clock(s(11));
  deadlines.update_clock(s(23));
  EXPECT_EQ(deadlines.find_hang(false, s(23)), std::nullopt);
  EXPECT_EQ(deadlines.waited(s(10), s(24)).count(), s(1));
  EXPECT_EQ(deadlines.find_hang(false, s(27)), std::nullopt);
  EXPECT_EQ(deadlines.find_hang(false, s(28)), nanoseconds(s(5)));
  deadlines.begin_step(s(28));
  EXPECT_EQ(deadlines.limit().count(), s(60)) << "a step of 18 s less 12";
}

TEST(Deadlines, FindsTheCollectiveThatIsInFlightForTooLong) {
  const TinyPlan tiny;
  Scheduler scheduler(tiny.input.model, tiny.setup, 0);
  scheduler.open(0, tiny.plan());
  for (const auto op : {kForwardFirst, kForwardSecond, kBackwardSecond}) {
    scheduler.complete({0, op});
  }
  ASSERT_TRUE(scheduler.take_communication(50).has_value());
  const Deadlines deadlines(nanoseconds(100), nanoseconds(0));
  EXPECT_FALSE(deadlines.find_overdue(scheduler, 149).has_value());
  const auto late = deadlines.find_overdue(scheduler, 150);
  ASSERT_TRUE(late.has_value());
  EXPECT_EQ(late->op, (plan::OpRef{0, kReduceSecond}));
  EXPECT_EQ(late->waited.count(), 100);
  scheduler.complete({0, kReduceSecond});
  EXPECT_FALSE(deadlines.find_overdue(scheduler, 1000).has_value());
}

TEST(Deadlines, FindsTheOpOfAPerformerThatMakesNoProgress) {
  const TinyPlan tiny;
  Scheduler scheduler(tiny.input.model, tiny.setup, 0);
  scheduler.open(0, tiny.plan_with_other_owner());
  Deadlines deadlines(nanoseconds(100), nanoseconds(0));
  EXPECT_FALSE(deadlines.find_overdue(scheduler, 500).has_value());
  deadlines.begin_step(500);
  deadlines.progress(550);
  EXPECT_FALSE(deadlines.find_overdue(scheduler, 649).has_value());
  const auto late = deadlines.find_overdue(scheduler, 660);
  ASSERT_TRUE(late.has_value());
  EXPECT_EQ(late->op, (plan::OpRef{0, kReduceSecond}));
  EXPECT_EQ(late->waited.count(), 110);
  deadlines.end_step();
  EXPECT_FALSE(deadlines.find_overdue(scheduler, 660).has_value());
}

TEST(Deadlines, FindsAThreadThatStandsStillThoughNothingHoldsIt) {
  Deadlines deadlines(nanoseconds(1000), nanoseconds(0), nanoseconds(100));
  deadlines.begin_step(0);
  EXPECT_EQ(deadlines.find_hang(false, 99), std::nullopt);
  EXPECT_EQ(deadlines.find_hang(true, 150), std::nullopt);
  EXPECT_EQ(deadlines.find_hang(false, 249), std::nullopt) << "held until 150";
  EXPECT_EQ(deadlines.find_hang(false, 250), nanoseconds(100));
  deadlines.progress(260);
  EXPECT_EQ(deadlines.find_hang(false, 300), std::nullopt);
  deadlines.begin_step(300);
  EXPECT_EQ(deadlines.find_hang(false, 2099), std::nullopt) << "six times the slowest step, 300";
  EXPECT_EQ(deadlines.find_hang(false, 2100), nanoseconds(1800));
}

std::exception_ptr error(const char* text) {
  return std::make_exception_ptr(std::runtime_error(text));
}

TEST(FirstError, KeepsTheFirst) {
  FirstError first;
  EXPECT_NO_THROW(first.rethrow_if_set());
  EXPECT_FALSE(first.is_set());
  first.set(error("one"), 10);
  first.set(error("two"), 20);
  EXPECT_TRUE(first.is_set());
  try {
    first.rethrow_if_set();
    FAIL() << "no error";
  } catch (const std::runtime_error& e) {
    EXPECT_STREQ(e.what(), "one");
  }
}

TEST(FirstError, IsToldOnceAndAfterTheGraceOnly) {
  FirstError first;
  EXPECT_EQ(first.take_unthrown(100, nanoseconds(0)), nullptr);
  const std::exception_ptr one = error("one");
  first.set(one, 10);
  EXPECT_EQ(first.take_unthrown(14, nanoseconds(5)), nullptr);
  EXPECT_EQ(first.take_unthrown(15, nanoseconds(5)), one);
  EXPECT_EQ(first.take_unthrown(16, nanoseconds(5)), nullptr);
  FirstError thrown;
  thrown.set(one, 10);
  EXPECT_THROW(thrown.rethrow_if_set(), std::runtime_error);
  EXPECT_EQ(thrown.take_unthrown(100, nanoseconds(5)), nullptr);
}

}  // namespace
}  // namespace paceline::execution
