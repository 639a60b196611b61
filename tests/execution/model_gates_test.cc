// SPDX-License-Identifier: Apache-2.0
#include "paceline/execution/model_gates.h"

#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "execution/fake_issuer.h"
#include "execution/tiny_plan.h"

namespace paceline::execution {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace)
using plan::OpRef;

class ModelGatesTest : public ::testing::Test {
 protected:
  /// One step of which the caller has done what is before the backward pass.
  void forward(plan::Step step) {
    gates.begin_step(step, program);
    gates.begin_forward(0);
    for (const plan::ModuleId module : {kFirstModule, kSecondModule}) {
      gates.enter(module);
      gates.leave(module);
    }
    gates.begin_backward();
  }

  /// A step in which the first module's values are reduced in front of its backward pass.
  StepProgram with_fetch_before_backward() {
    plan::CommPlan plan = tiny.ops();
    plan::Op fetch = plan.ops[kReduceFirst];
    auto& work = std::get<plan::Collective>(fetch.work);
    work.in = work.out = tiny.setup.parameters[plan::index_of(kFirst)].value;
    plan.ops.insert(plan.ops.begin() + kBackwardFirst, fetch);
    return make_step_program(std::move(plan), tiny.input, tiny.setup);
  }

  TinyPlan tiny;
  StepProgram program = make_step_program(tiny.ops(), tiny.input, tiny.setup);
  FakeIssuer issuer;
  std::vector<plan::Elements> updated;  // where the written slices begin
  Dispatcher dispatcher{tiny.input,
                        tiny.setup,
                        issuer,
                        [this](plan::OpRef, const plan::Kernel& kernel) {
                          updated.push_back(kernel.writes[0].slice.begin);
                        },
                        {}};
  ModelGates gates{dispatcher, tiny.input};
};

TEST_F(ModelGatesTest, AFinalGradientStartsItsAllReduce) {
  forward(0);
  EXPECT_EQ(issuer.started, std::vector<OpRef>{});
  EXPECT_TRUE(gates.enter_gradient(kSecond));
  EXPECT_EQ(issuer.started, std::vector<OpRef>{});
  gates.leave_gradient(kSecond);
  EXPECT_EQ(issuer.started, (std::vector<OpRef>{{0, kReduceSecond}}));
  EXPECT_FALSE(gates.enter_gradient(kSecond)) << "it is final";
  EXPECT_EQ(gates.pending_gradients(), std::vector{kFirst});
}

TEST_F(ModelGatesTest, AGradientMayBeWrittenOnceNothingReadsIt) {
  plan::CommPlan ops = tiny.ops();
  ops.ops.push_back(ops.ops[kReduceSecond]);  // no forward waits for it
  program = make_step_program(ops, tiny.input, tiny.setup);
  forward(0);
  EXPECT_TRUE(gates.try_enter_gradient(kSecond));
  gates.leave_gradient(kSecond);
  EXPECT_FALSE(gates.try_enter_gradient(kSecond)) << "it is final";
  gates.begin_step(1, program);
  gates.begin_forward(0);
  EXPECT_FALSE(gates.try_enter_gradient(kSecond)) << "an all-reduce is to come";
}

TEST_F(ModelGatesTest, AModuleThatIsNotReachedDoesNotHoldTheStepUp) {
  gates.begin_step(0, program);
  gates.begin_forward(0);
  gates.enter(kFirstModule);
  gates.leave(kFirstModule);
  gates.begin_backward();
  gates.enter_gradient(kSecond);
  gates.leave_gradient(kSecond);
  EXPECT_EQ(issuer.started, (std::vector<OpRef>{{0, kReduceSecond}}));
}

TEST_F(ModelGatesTest, AModuleMayRunTwice) {
  gates.begin_step(0, program);
  gates.begin_forward(0);
  for (int i = 0; i < 2; ++i) {
    gates.enter(kFirstModule);
    gates.leave(kFirstModule);
  }
  gates.enter(kSecondModule);
  gates.leave(kSecondModule);
  gates.begin_backward();
  EXPECT_EQ(gates.pending_gradients(), (std::vector{kFirst, kSecond}));
}

// The gate of step 1 opens behind all-reduce and update of step 0.
TEST_F(ModelGatesTest, AGateWaitsForTheUpdateOfItsParameters) {
  forward(0);
  for (const plan::ParameterId p : {kSecond, kFirst}) {
    gates.enter_gradient(p);
    gates.leave_gradient(p);
  }
  gates.end_backward();
  gates.begin_step(1, program);
  gates.begin_forward(0);
  RandomOrderThread engine(1);
  engine.add([&] { dispatcher.op_ended({0, kReduceFirst}, nullptr); });
  gates.enter(kFirstModule);
  EXPECT_EQ(updated, std::vector<plan::Elements>{0});
  gates.leave(kFirstModule);
}

TEST_F(ModelGatesTest, OpsOfAPerformerAreCompleteAtTheEndOfBackward) {
  plan::CommPlan plan = *tiny.plan_with_other_owner();
  const StepProgram performed = make_step_program(std::move(plan), tiny.input, tiny.setup);
  for (const plan::Step step : {0, 1}) {
    gates.begin_step(step, performed);
    gates.begin_forward(0);
    gates.begin_backward();  // waits for the updates of the step before
    for (const plan::ParameterId p : {kSecond, kFirst}) {
      gates.enter_gradient(p);
      gates.leave_gradient(p);
    }
    gates.end_backward();
  }
  dispatcher.wait_all();
  EXPECT_EQ(issuer.started, std::vector<OpRef>{});
}

TEST_F(ModelGatesTest, BackwardHasAGateWhereItWaitsForMoreThanModelWork) {
  forward(0);
  EXPECT_FALSE(gates.gates_backward(kFirstModule));
  const StepProgram gated = with_fetch_before_backward();
  EXPECT_TRUE(gated.gates_backward[plan::index_of(kFirstModule)]);
  EXPECT_FALSE(gated.gates_backward[plan::index_of(kSecondModule)]);
}

// Backward comes to the first use last, when the gradients between the uses are final.
TEST_F(ModelGatesTest, OnlyTheFirstUseOfAModuleHasAGateInBackward) {
  const StepProgram gated = with_fetch_before_backward();
  gates.begin_step(0, gated);
  for (int micro = 0; micro < 2; ++micro) {  // the counts begin again
    gates.begin_forward(0);
    for (const bool gate : {true, false, false}) {
      gates.enter(kFirstModule);
      gates.leave(kFirstModule);
      EXPECT_EQ(gates.gates_backward(kFirstModule), gate);
    }
  }
}

}  // namespace
}  // namespace paceline::execution
