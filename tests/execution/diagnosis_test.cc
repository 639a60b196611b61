// SPDX-License-Identifier: Apache-2.0
#include "paceline/execution/diagnosis.h"

#include <stdexcept>

#include <gtest/gtest.h>

#include "execution/tiny_plan.h"
#include "paceline/base/error.h"

namespace paceline::execution {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace)

class DiagnosisTest : public ::testing::Test {
 protected:
  DiagnosisTest() {
    scheduler.open(0, tiny.plan());
    for (const auto op : {kForwardFirst, kForwardSecond, kBackwardSecond, kBackwardFirst}) {
      scheduler.complete({0, op});
    }
    scheduler.open(1, tiny.plan());
  }

  TinyPlan tiny;
  Scheduler scheduler{tiny.input.model, tiny.setup, 0};
  Diagnosis diagnosis{scheduler, tiny.input.model, tiny.setup};
};

TEST_F(DiagnosisTest, AWaitNamesTheChainBehindIt) {
  const std::string chain =
      "step 1: forward, second waited 2.5 s behind update, 8 bytes, values second.weight of step 0 "
      "behind all-reduce, 8 bytes, gradients second.weight, on grad, 2 ranks of step 0";
  const std::chrono::milliseconds time(2500);
  EXPECT_EQ(diagnosis.waited({1, kForwardSecond}, time), chain + ", which has not been issued");
  ASSERT_TRUE(scheduler.take_communication(0).has_value());
  EXPECT_EQ(diagnosis.waited({1, kForwardSecond}, time), chain + ", which is in flight");
}

TEST_F(DiagnosisTest, NamesTheOpThatIsAtWork) {
  EXPECT_EQ(diagnosis.current(), "all-reduce, 8 bytes, gradients second.weight, on grad, 2 ranks");
  ASSERT_TRUE(scheduler.take_communication(0).has_value());
  ASSERT_TRUE(scheduler.take_communication(0).has_value());
  scheduler.complete({0, kReduceSecond});
  EXPECT_EQ(diagnosis.current(), "all-reduce, 8 bytes, gradients first.weight, on grad, 2 ranks")
      << "what is in flight goes before the update that has not run";
  const Scheduler idle(tiny.input.model, tiny.setup, 0);
  EXPECT_EQ(Diagnosis(idle, tiny.input.model, tiny.setup).current(), "between steps");
}

TEST_F(DiagnosisTest, SaysHowLongAnOpIsNotDone) {
  EXPECT_EQ(diagnosis.overdue({0, kReduceFirst}, std::chrono::seconds(7)),
            "step 0: all-reduce, 8 bytes, gradients first.weight, on grad, 2 ranks is not done "
            "after 7.0 s");
}

TEST_F(DiagnosisTest, AHangBehindAnEndedStepIsSaidToBeThere) {
  const auto hangs = [&] {
    return diagnosis.describe_hang(plan::OpRef{0, kUpdateFirst}, 0, std::chrono::seconds(4));
  };
  const std::string so_long = "step 0: the training thread has not moved for 4.0 s, at ";
  EXPECT_EQ(hangs(), so_long + "update, 8 bytes, values first.weight");
  for (const auto op : {kReduceSecond, kReduceFirst, kUpdateSecond, kUpdateFirst}) {
    scheduler.complete({0, op});
  }
  EXPECT_EQ(hangs(), so_long + "the end of the step") << "step 1 is open";
}

TEST_F(DiagnosisTest, AFailedOpKeepsTheKindOfItsError) {
  const auto failed = [&](const auto& error) {
    std::rethrow_exception(
        diagnosis.failed({0, kUpdateFirst}, "failed", std::make_exception_ptr(error)));
  };
  EXPECT_THROW(failed(UsageError("no mean")), UsageError);
  try {
    failed(std::runtime_error("connection reset"));
    FAIL() << "no error";
  } catch (const WorldError& error) {
    EXPECT_STREQ(error.what(),
                 "step 0: update, 8 bytes, values first.weight failed: connection reset");
  }
}

}  // namespace
}  // namespace paceline::execution
