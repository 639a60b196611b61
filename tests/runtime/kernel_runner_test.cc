// SPDX-License-Identifier: Apache-2.0
#include "paceline/runtime/kernel_runner.h"

#include <chrono>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include <gtest/gtest.h>
#include <torch/types.h>

#include "paceline/base/clock.h"
#include "paceline/base/random.h"
#include "paceline/networks/precision.h"
#include "paceline/runtime/memory.h"
#include "paceline/strategies/embedding_job.h"

namespace paceline::runtime {
namespace {

/// One parameter of 4 elements, as {values, gradients, momentum, rate}.
class KernelRunnerTest : public ::testing::Test {
 protected:
  KernelRunnerTest() {
    plan::Setup setup;
    setup.buffers = {{.name = "values", .elements = 4},
                     {.name = "gradients", .elements = 4},
                     {.name = "momentum", .elements = 4},
                     {.name = "learning_rate", .dtype = plan::DType::kF64, .elements = 1}};
    setup.parameters = {{.value = slice(0), .gradient = slice(1)}};
    memory.emplace(setup, at::kCPU);
    parameter.set_requires_grad(true);
    memory->adopt({parameter});
    memory->view({plan::BufferId{3}, 0, 1}).fill_(0.5);
    memory->view(slice(1)).fill_(2);                 // the flat gradients
    parameter.mutable_grad() = at::full({4}, 4.0F);  // autograd's
  }

  static plan::Slice slice(int buffer) { return {static_cast<plan::BufferId>(buffer), 0, 4}; }
  static plan::Kernel update() {
    return {.name = "update",
            .reads = {{slice(0)}, {slice(1)}, {slice(2)}, {{plan::BufferId{3}, 0, 1}}},
            .writes = {{slice(0)}, {slice(1)}, {slice(2)}},
            .numbers = {1.0}};
  }
  Operands flat(bool flat_gradients) const {
    return {*memory,
            flat_gradients ? gradient_buffers(memory->setup()) : std::set<plan::BufferId>()};
  }
  /// The values after the first update.
  at::Tensor updated(bool flat_gradients, KernelRunner::Time time = {}) {
    const KernelRunner runner({.weight_decay = 0}, flat(flat_gradients), std::move(time));
    runner.run({}, update());
    return parameter.detach();
  }

  at::Tensor parameter = at::ones({4});
  std::optional<FlatMemory> memory;
};

TEST_F(KernelRunnerTest, RunsTheKernelOnTheSlicesOfThePlan) {
  EXPECT_TRUE(at::equal(updated(true), at::full({4}, 1 - 0.5F * 2)));
}

TEST_F(KernelRunnerTest, TakesAutogradsGradientsWhereNoneAreFlat) {
  EXPECT_TRUE(at::equal(updated(false), at::full({4}, 1 - 0.5F * 4)));
}

TEST_F(KernelRunnerTest, PassesWhatRandomNumbersAreKeyedBy) {
  const KernelRunner runner({}, flat(true), {}, /*seed=*/42);
  const RandomKey key = runner.call_of({7, 3}, update()).random;
  EXPECT_EQ(key.seed, 42U);
  EXPECT_EQ(key.step, 7);
  EXPECT_EQ(key.op, 3);
}

// A product in bfloat16 would be 1.
TEST_F(KernelRunnerTest, ComputesInTheTypeOfItsOperandsUnderAutocast) {
  const auto half = [](int buffer) {
    return plan::Slice{static_cast<plan::BufferId>(buffer), 0, 2};
  };
  const float product = 1 + std::ldexp(1.0F, -12);
  memory->view(half(1)).fill_(product);
  memory->view(half(2)).fill_(1);
  const KernelRunner runner({}, flat(true), {});
  const networks::Autocast autocast(networks::Precision::kAmp, at::kCPU);
  runner.run({}, {.name = "powersgd_outer",
                  .reads = {{half(1)}, {half(2)}},
                  .writes = {{slice(0)}},
                  .numbers = {0, 2, 2, 1}});
  EXPECT_TRUE(at::equal(parameter.detach(), at::full({4}, product)));
}

TEST_F(KernelRunnerTest, AKernelThatIsSleptThroughChangesNothing) {
  std::string asked;
  const at::Tensor values = updated(true, [&](const plan::Kernel& kernel) {
    asked = kernel.name;
    return std::chrono::nanoseconds(0);
  });
  EXPECT_EQ(asked, "update");
  EXPECT_TRUE(at::equal(values, at::ones({4})));
}

// However late a thread is, a sleep is never short.
TEST_F(KernelRunnerTest, CodingIsStretchedAndReportedUnstretched) {
  constexpr double kStretch = 20;
  int told = 0;
  const KernelRunner runner({}, flat(true), {},
                            /*seed=*/0, kStretch, [&](plan::Step step, const std::string& kernel) {
                              EXPECT_EQ(step, 7);
                              EXPECT_EQ(kernel, "unsign8");
                              ++told;
                            });
  const Stopwatch watch;
  runner.run({7, 0},
             {.name = "unsign8", .reads = {{slice(1)}}, .writes = {{slice(0)}}, .numbers = {}});
  EXPECT_GT(runner.coding_ns(), 0);
  EXPECT_GE(told, 1);
  EXPECT_GE(static_cast<double>(watch.elapsed_ns()),
            kStretch * static_cast<double>(runner.coding_ns()) - 1);
}

// Two servers of 4 ids of 2 numbers; the first has ids 0 and 1.
TEST_F(KernelRunnerTest, RowsAreDrawnOnceBeforeTheFirstStepWithBeats) {
  const strategies::EmbeddingJob job{.servers = 2,
                                     .tables = 1,
                                     .rows = 4,
                                     .dim = 2,
                                     .placement = strategies::TablePlacement::kRowRange};
  const auto numbers = strategies::encode_job(job, 0);
  int told = 0;
  KernelRunner runner({}, flat(true), {},
                      /*seed=*/42,
                      /*stretch=*/1, [&](plan::Step, const std::string& kernel) {
                        EXPECT_EQ(kernel, "draw_rows");
                        ++told;
                      });
  plan::CommPlan first;
  const plan::Kernel draw{
      .name = "draw_rows", .reads = {}, .writes = {{slice(0)}}, .numbers = numbers};
  first.ops.push_back({.work = draw});
  first.ops.push_back({.work = update()});
  runner.start(first);
  EXPECT_EQ(told, 1);
  const at::Tensor rows = memory->view(slice(0)).clone();
  for (const int id : {0, 1}) {
    Random random(42, std::uint64_t{1} << 63U | static_cast<unsigned>(id));
    for (const int d : {0, 1}) {
      EXPECT_EQ(rows[id * 2 + d].item<float>(), static_cast<float>(random.normal()));
    }
  }
  memory->view(slice(0)).fill_(7);
  runner.run({0, 0}, draw);
  EXPECT_TRUE(at::equal(memory->view(slice(0)), at::full({4}, 7.0F))) << "the step passes over it";
}

}  // namespace
}  // namespace paceline::runtime
