// SPDX-License-Identifier: Apache-2.0
#include "paceline/execution/dispatcher.h"

#include <array>
#include <future>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include <gtest/gtest.h>

#include "execution/fake_issuer.h"
#include "execution/tiny_plan.h"
#include "paceline/base/error.h"
#include "paceline/execution/model_gates.h"

namespace paceline::execution {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace)
using plan::OpRef;

template <class Run>
std::string error_of(Run&& run) {
  try {
    run();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "no error";
}

void compute(Dispatcher& dispatcher, plan::Step step) {
  for (const auto op : {kForwardFirst, kForwardSecond, kBackwardSecond, kBackwardFirst}) {
    dispatcher.wait_ready({step, op});
    dispatcher.complete({step, op});
  }
  dispatcher.end_step();
}

class DispatcherTest : public ::testing::Test {
 protected:
  void make(Dispatcher::Options options = {}) {
    dispatcher.emplace(
        tiny.input, tiny.setup, issuer,
        [this](OpRef ref, const plan::Kernel& kernel) { run_kernel(ref, kernel); },
        std::move(options));
  }

  TinyPlan tiny;
  FakeIssuer issuer;
  Dispatcher::RunKernel run_kernel = [](OpRef, const plan::Kernel&) {};
  std::optional<Dispatcher> dispatcher;
};

/// The memory of TinyPlan with one number per parameter.  Its accesses are not guarded: the
/// dispatcher must order them.
struct Numbers {
  std::array<std::int64_t, 2> values{3, 5}, gradients{};

  void backward(plan::ParameterId p, plan::Step step) {
    gradients[plan::index_of(p)] = values[plan::index_of(p)] + step;
  }
  void all_reduce(const plan::Slice& slice) {
    gradients[static_cast<std::size_t>(slice.begin / 2)] *= 2;
  }
  void update(const plan::Slice& slice) {
    const auto p = static_cast<std::size_t>(slice.begin / 2);
    values[p] = (values[p] * 7 + gradients[p]) % 1'000'003;
  }
};

// Threads of the engine, the communication thread and the training thread compute what one thread
// computes.
TEST_F(DispatcherTest, ManyStepsOnThreeThreadsGiveTheResultOfTheProgram) {
  constexpr plan::Step kSteps = 300;
  Numbers expected;
  for (plan::Step step = 0; step < kSteps; ++step) {
    for (const plan::ParameterId p : {kSecond, kFirst}) {
      const plan::ParameterPlacement& at = tiny.setup.parameters[plan::index_of(p)];
      expected.backward(p, step);
      expected.all_reduce(at.gradient);
      expected.update(at.value);
    }
  }
  Numbers numbers;
  const plan::CommPlan ops = tiny.ops();
  const StepProgram program = make_step_program(tiny.ops(), tiny.input, tiny.setup);
  std::array<plan::Step, 2> steps{};
  run_kernel = [&](OpRef ref, const plan::Kernel& kernel) {
    const bool second = kernel.writes[0].slice.begin > 0;
    const plan::Step step = steps[second ? 1 : 0]++;
    EXPECT_EQ(ref, (OpRef{step, second ? kUpdateSecond : kUpdateFirst}));
    numbers.update(kernel.writes[0].slice);
  };
  std::optional<RandomOrderThread> engine(1);
  issuer.on_start = [&](OpRef ref, const Events&) {
    engine->add([&, ref] {
      const auto& op = ops.ops[static_cast<std::size_t>(ref.op)];
      numbers.all_reduce(std::get<plan::Collective>(op.work).out);
      dispatcher->op_ended(ref, nullptr);
    });
  };
  make();
  ModelGates gates(*dispatcher, tiny.input);
  for (plan::Step step = 0; step < kSteps; ++step) {
    gates.begin_step(step, program);
    gates.begin_forward(0);
    gates.begin_backward();
    for (const plan::ParameterId p : {kSecond, kFirst}) {
      gates.enter_gradient(p);
      numbers.backward(p, step);
      gates.leave_gradient(p);
    }
    gates.end_backward();
  }
  dispatcher->wait_all();
  engine.reset();
  EXPECT_EQ(numbers.values, expected.values);
}

TEST_F(DispatcherTest, WatchesTheTrainingThreadInStepsAndWaits) {
  const auto alive = std::make_shared<int>();
  const auto watched = [&] { return alive.use_count() > 2; };
  make({.spare_core = false, .watch = [alive] { return alive; }});
  EXPECT_FALSE(watched());
  dispatcher->begin_step(0, tiny.plan());
  EXPECT_TRUE(watched());
  compute(*dispatcher, 0);  // ends the step
  EXPECT_FALSE(watched());
  bool in_wait = false;
  run_kernel = [&](OpRef, const plan::Kernel&) { in_wait = watched(); };
  dispatcher->op_ended({0, kReduceSecond}, nullptr);
  dispatcher->op_ended({0, kReduceFirst}, nullptr);
  dispatcher->wait_all();
  EXPECT_TRUE(in_wait);
  EXPECT_FALSE(watched());
  dispatcher->begin_step(1, tiny.plan());
  dispatcher->pick_arrived(0, 0, std::make_exception_ptr(std::runtime_error("lost")));
  EXPECT_TRUE(watched());
  EXPECT_EQ(error_of([&] { dispatcher->progress(); }), "lost");
  EXPECT_FALSE(watched());
}

// While the training thread does something else.
TEST_F(DispatcherTest, WithASpareCoreKernelsRunBesideTheTrainingThread) {
  std::promise<OpRef> ran;
  run_kernel = [&, first = true](OpRef ref, const plan::Kernel&) mutable {
    if (std::exchange(first, false)) {
      ran.set_value(ref);
    }
  };
  make();
  dispatcher->begin_step(0, tiny.plan());
  compute(*dispatcher, 0);
  dispatcher->op_ended({0, kReduceSecond}, nullptr);
  EXPECT_EQ(ran.get_future().get(), (OpRef{0, kUpdateSecond}));
  dispatcher->op_ended({0, kReduceFirst}, nullptr);
  dispatcher->wait_all();
}

TEST_F(DispatcherTest, WithoutASpareCoreOnlyUrgentKernelsRunBeside) {
  std::promise<void> urgent_ran;
  std::map<plan::OpIndex, std::thread::id> threads;
  run_kernel = [&](OpRef ref, const plan::Kernel&) {
    threads[ref.op] = std::this_thread::get_id();
    if (ref.op == kUpdateFirst) {
      urgent_ran.set_value();
    }
  };
  issuer.on_start = [&](OpRef ref, const Events&) {
    if (ref.op > kUpdateFirst) {
      dispatcher->op_ended(ref, nullptr);
    }
  };
  make({.spare_core = false});
  dispatcher->begin_step(0, tiny.plan_with_broadcast());
  compute(*dispatcher, 0);
  dispatcher->op_ended({0, kReduceSecond}, nullptr);
  dispatcher->op_ended({0, kReduceFirst}, nullptr);
  urgent_ran.get_future().wait();
  dispatcher->wait_all();
  EXPECT_EQ(threads.at(kUpdateSecond), std::this_thread::get_id());
  EXPECT_NE(threads.at(kUpdateFirst), std::this_thread::get_id());
}

TEST_F(DispatcherTest, AnOpMayEndOnTheThreadThatStartsIt) {
  issuer.on_start = [&](OpRef ref, const Events&) { dispatcher->op_ended(ref, nullptr); };
  make({.record_spans = true});
  for (const plan::Step step : {0, 1}) {
    dispatcher->begin_step(step, tiny.plan());
    compute(*dispatcher, step);
  }
  dispatcher->wait_all();
  EXPECT_EQ(issuer.started,
            (std::vector<OpRef>{
                {0, kReduceSecond}, {0, kReduceFirst}, {1, kReduceSecond}, {1, kReduceFirst}}));
  std::size_t work = 0;
  for (const OpSpan& span : dispatcher->take_spans()) {
    work += span.kind == OpSpan::Kind::kWork ? 1 : 0;
    EXPECT_LE(span.start_ns, span.end_ns);
  }
  EXPECT_EQ(work, 8U) << "two all-reduces and two updates a step";
}

TEST_F(DispatcherTest, AWaitThatTakesTooLongNamesTheOpInFlight) {
  make({.timeout = std::chrono::milliseconds(1)});
  dispatcher->begin_step(0, tiny.plan());
  // The communication thread may find the op late before the wait begins.
  const std::string why = error_of([&] {
    compute(*dispatcher, 0);
    dispatcher->wait_all();
  });
  EXPECT_EQ(why.find("step 0: all-reduce, 8 bytes, gradients second.weight"), 0U) << why;
  EXPECT_EQ(error_of([&] { dispatcher->progress(); }), why)
      << "the first error is every later call's";
}

TEST_F(DispatcherTest, AnOpThatCannotStartIsTheErrorOfTheRun) {
  issuer.most_starts = 1;
  make();
  dispatcher->begin_step(0, tiny.plan());
  const std::string why = error_of([&] {
    compute(*dispatcher, 0);
    dispatcher->wait_all();
  });
  EXPECT_EQ(why,
            "step 0: all-reduce, 8 bytes, gradients first.weight, on grad, 2 ranks could not "
            "start: no more");
  dispatcher->op_ended({0, kReduceSecond}, nullptr);  // still reported
}

TEST_F(DispatcherTest, AnOpThatFailsIsTheErrorOfTheRun) {
  issuer.on_start = [&](OpRef ref, const Events&) {
    dispatcher->op_ended(ref, std::make_exception_ptr(std::runtime_error("peer closed")));
  };
  make();
  dispatcher->begin_step(0, tiny.plan());
  EXPECT_EQ(
      error_of([&] {
        compute(*dispatcher, 0);
        dispatcher->wait_all();
      }),
      "step 0: all-reduce, 8 bytes, gradients second.weight, on grad, 2 ranks failed: peer closed");
  EXPECT_EQ(issuer.started.size(), 1U) << "a failed run starts nothing more";
}

TEST_F(DispatcherTest, AnErrorOfAKernelOrOfTheHeartbeatEndsTheWait) {
  issuer.on_start = [&](OpRef ref, const Events&) { dispatcher->op_ended(ref, nullptr); };
  run_kernel = [](OpRef, const plan::Kernel&) {
    throw UsageError("this kernel is not for these operands");
  };
  make();
  dispatcher->begin_step(0, tiny.plan());
  EXPECT_EQ(error_of([&] {
              compute(*dispatcher, 0);
              dispatcher->wait_all();
            }),
            "this kernel is not for these operands");
  issuer.on_start = {};
  make(
      {.heartbeat = [](plan::Step, const std::string&) { throw WorldError("the store is gone"); }});
  EXPECT_EQ(error_of([&] {
              dispatcher->begin_step(0, tiny.plan());
              dispatcher->wait_ready({0, kUpdateFirst});
            }),
            "the store is gone");
}

// The training thread is inside code of another owner of ops, where no error reaches it.
TEST_F(DispatcherTest, ATrainingThreadThatAPerformerHoldsIsReported) {
  std::promise<std::exception_ptr> told;
  make({.timeout = std::chrono::milliseconds(1),
        .stuck = [&](const std::exception_ptr& e) { told.set_value(e); },
        .grace = std::chrono::nanoseconds(0)});
  dispatcher->begin_step(0, tiny.plan_with_other_owner());
  const std::string why = error_of([&] { std::rethrow_exception(told.get_future().get()); });
  EXPECT_EQ(why.find("step 0: all-reduce, 8 bytes, gradients second.weight, on grad, 2 ranks, by "
                     "another is not done after"),
            0U)
      << why;
}

// Nothing holds the training thread: its own rank is the one that hangs.
TEST_F(DispatcherTest, ATrainingThreadThatHangsIsReported) {
  std::promise<std::exception_ptr> told;
  make({.training_timeout = std::chrono::milliseconds(100),
        .stuck = [&](const std::exception_ptr& e) { told.set_value(e); }});
  dispatcher->begin_step(0, tiny.plan());
  const std::string why = error_of([&] { std::rethrow_exception(told.get_future().get()); });
  EXPECT_EQ(why.find("step 0: the training thread has not moved for "), 0U) << why;
  EXPECT_NE(why.find(" s, at forward, first"), std::string::npos) << why;
}

// Its last backward is complete, and what that made ready is being issued.
TEST_F(DispatcherTest, ATrainingThreadThatHangsInItsLastIssueIsReported) {
  std::promise<std::exception_ptr> told;
  std::promise<void> released;
  issuer.on_start = [&](OpRef ref, const Events&) {
    if (ref.op == kReduceFirst) {
      released.get_future().wait();
    }
  };
  make({.training_timeout = std::chrono::milliseconds(200),
        .stuck = [&](const std::exception_ptr& e) { told.set_value(e); }});
  dispatcher->begin_step(0, tiny.plan());
  std::thread training([&] { compute(*dispatcher, 0); });
  const std::string why = error_of([&] { std::rethrow_exception(told.get_future().get()); });
  released.set_value();
  training.join();
  EXPECT_EQ(why.find("step 0: the training thread has not moved for "), 0U) << why;
  EXPECT_NE(why.find("at all-reduce, 8 bytes"), std::string::npos) << why;
}

// Between its last op and the end of the step.
TEST_F(DispatcherTest, ATrainingThreadThatHangsBehindTheLastOpIsReported) {
  std::promise<std::exception_ptr> told;
  make({.training_timeout = std::chrono::milliseconds(100),
        .stuck = [&](const std::exception_ptr& e) { told.set_value(e); }});
  auto no_communication = tiny.ops();
  no_communication.ops.resize(kReduceSecond);
  dispatcher->begin_step(0, std::make_shared<const plan::CommPlan>(no_communication));
  for (const auto op : {kForwardFirst, kForwardSecond, kBackwardSecond, kBackwardFirst}) {
    dispatcher->complete({0, op});
  }
  const std::string why = error_of([&] { std::rethrow_exception(told.get_future().get()); });
  EXPECT_EQ(why.find("step 0: the training thread has not moved for "), 0U) << why;
  EXPECT_NE(why.find(" s, behind the last operation"), std::string::npos) << why;
}

// A kernel that the training thread runs while it waits is its own work.
TEST_F(DispatcherTest, ATrainingThreadThatHangsInAKernelIsReported) {
  std::promise<std::exception_ptr> told;
  std::promise<void> released;
  run_kernel = [&](OpRef, const plan::Kernel&) { released.get_future().wait(); };
  make({.training_timeout = std::chrono::milliseconds(100),
        .spare_core = false,
        .stuck = [&](const std::exception_ptr& e) { told.set_value(e); }});
  dispatcher->begin_step(0, tiny.plan());
  compute(*dispatcher, 0);
  dispatcher->op_ended({0, kReduceSecond}, nullptr);
  dispatcher->op_ended({0, kReduceFirst}, nullptr);
  std::string waited;
  std::thread training([&] { waited = error_of([&] { dispatcher->wait_all(); }); });
  const std::string why = error_of([&] { std::rethrow_exception(told.get_future().get()); });
  released.set_value();
  training.join();
  EXPECT_EQ(why.find("step 0: the training thread has not moved for "), 0U) << why;
  EXPECT_NE(why.find("at update"), std::string::npos) << why;
  EXPECT_EQ(waited, why);
}

TEST_F(DispatcherTest, TheFirstMemberSendsWhatItPicks) {
  tiny.setup.communicators[0].order = plan::IssueOrder::kPriority;
  make();
  dispatcher->begin_step(0, tiny.plan());
  compute(*dispatcher, 0);
  EXPECT_EQ(issuer.picks_asked, 0);
  EXPECT_EQ(issuer.started, (std::vector<OpRef>{{0, kReduceSecond}, {0, kReduceFirst}}));
  EXPECT_EQ(issuer.picks_sent, (std::vector<IssueQueue::Pick>{0, 1}));
  dispatcher->op_ended({0, kReduceSecond}, nullptr);
  dispatcher->op_ended({0, kReduceFirst}, nullptr);
}

TEST_F(DispatcherTest, TheOthersStartWhatTheFirstMemberPicked) {
  tiny.setup.communicators[0].order = plan::IssueOrder::kPriority;
  tiny.input.rank = 1;
  make();
  dispatcher->begin_step(0, tiny.plan());
  compute(*dispatcher, 0);
  EXPECT_EQ(issuer.started, std::vector<OpRef>{});
  EXPECT_EQ(issuer.picks_asked, 1);
  dispatcher->pick_arrived(0, 1, nullptr);
  EXPECT_EQ(issuer.started, (std::vector<OpRef>{{0, kReduceFirst}}));
  EXPECT_EQ(issuer.picks_asked, 2);
  dispatcher->pick_arrived(0, 0, std::make_exception_ptr(std::runtime_error("leader lost")));
  EXPECT_EQ(error_of([&] { dispatcher->progress(); }), "leader lost");
}

}  // namespace
}  // namespace paceline::execution
