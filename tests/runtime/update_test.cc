// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include <gtest/gtest.h>
#include <torch/types.h>

#include "paceline/plan/optimizer.h"
#include "paceline/runtime/kernels/call.h"
#include "paceline/runtime/kernels/table.h"

namespace paceline::runtime {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

void run(std::string_view name, const std::vector<Operand>& reads,
         const std::vector<Operand>& writes, const std::vector<double>& numbers = {},
         const OptimizerSettings& rule = {}) {
  find_kernel(name).run(rule, {.reads = reads, .writes = writes, .numbers = numbers});
}

TEST(Check, FindsWhatIsNotFiniteAndForgetsTheStepBefore) {
  const at::Tensor found = at::zeros({1});
  const at::Tensor good = at::tensor({1.0F, -2.0F, 3.0e38F});
  for (const float bad : {kInfinity, -kInfinity, kNan}) {
    const Operand gradients{good.clone(), at::tensor({0.0F, bad})};
    run("check", {gradients}, {gradients, {found}});
    EXPECT_EQ(found.item<float>(), 1);
    EXPECT_TRUE(gradients[0].equal(good)) << "gradients keep their values";
    run("check", {{gradients[0]}}, {{gradients[0]}, {found}});
    EXPECT_EQ(found.item<float>(), 0);
  }
}

TEST(Rescale, HalvesAtAnOverflowAndDoublesAfterTheInterval) {
  const at::Tensor found = at::zeros({1}), scale = at::full({1}, 8.0F);
  const at::Tensor applied = at::zeros({1}), growth = at::zeros({1}, at::kInt);
  const auto after = [&](float overflow) {
    found.fill_(overflow);
    const float before = scale.item<float>();
    run("rescale", {{found}, {scale}, {growth}}, {{scale}, {growth}, {applied}}, {2, 0.5, 3});
    EXPECT_EQ(applied.item<float>(), before) << "the updates use the old one";
    return scale.item<float>();
  };
  EXPECT_EQ(after(0), 8);
  EXPECT_EQ(after(0), 8);
  EXPECT_EQ(after(0), 16) << "three good steps in a row";
  EXPECT_EQ(after(0), 16);
  EXPECT_EQ(after(0), 16);
  EXPECT_EQ(after(1), 8) << "an overflow starts the count anew";
  EXPECT_EQ(after(0), 8);
  EXPECT_EQ(after(0), 8);
  EXPECT_EQ(after(0), 16);
}

TEST(Count, DoesNotCountASkippedStep) {
  const at::Tensor count = at::full({1}, 5.0F), found = at::ones({1});
  run("count", {{count}, {found}}, {{count}});
  EXPECT_EQ(count.item<float>(), 5);
  run("count", {{count}, {found.zero_()}}, {{count}});
  EXPECT_EQ(count.item<float>(), 6);
}

// An optimizer's operands, after `update` with the given loss scale or none.
std::vector<at::Tensor> updated(const std::string& optimizer, std::optional<float> scale,
                                float found_inf = 0) {
  const auto states = plan::state_names(plan::shape_of(optimizer)).size();
  std::vector<at::Tensor> all{at::arange(1, 36, at::kFloat) / 7,
                              at::arange(3, 38, at::kFloat) / 11};
  for (std::size_t s = 0; s < states; ++s) {
    all.push_back(at::arange(2, 37, at::kFloat) / 13);
  }
  all[1].mul_(scale.value_or(1));
  std::vector<Operand> writes;
  for (const at::Tensor& tensor : all) {
    writes.push_back({tensor});
  }
  std::vector<Operand> reads = writes;
  reads.push_back({at::full({1}, 0.1, at::kDouble)});
  if (plan::optimizer_named(optimizer).counts_steps) {
    reads.push_back({at::full({1}, 3.0F)});
  }
  if (scale) {
    reads.push_back({at::full({1}, *scale)});
    reads.push_back({at::full({1}, found_inf)});
  }
  run("update", reads, writes, {3}, {.name = optimizer});
  return all;
}

TEST(Update, DividesByTheScaleExactly) {
  for (const std::string& optimizer : plan::optimizer_names()) {
    const auto plain = updated(optimizer, std::nullopt);
    const auto scaled = updated(optimizer, 65536.0F);
    for (std::size_t i = 0; i < plain.size(); ++i) {
      EXPECT_TRUE(plain[i].equal(scaled[i])) << optimizer << " operand " << i;
    }
  }
}

TEST(Update, LeavesEverythingWhereTheGradientsOverflowed) {
  for (const std::string& optimizer : plan::optimizer_names()) {
    const auto skipped = updated(optimizer, 4.0F, 1);
    EXPECT_TRUE(skipped[0].equal(at::arange(1, 36, at::kFloat) / 7));
    EXPECT_TRUE(skipped[2].equal(at::arange(2, 37, at::kFloat) / 13));
    EXPECT_FALSE(skipped[0].equal(updated(optimizer, 4.0F, 0)[0]));
  }
}

// Numbers of few bits: all of float32's results are exact, and so is their rounding in a float64
// that is converted at the end.
TEST(Update, ChangesEveryElementOfBf16) {
  for (const double momentum : {0.0, 0.5}) {
    for (const std::int64_t size : {1, 31, 64, 1000}) {
      const auto wide = at::TensorOptions().dtype(at::kDouble);
      const at::Tensor w = at::arange(size, wide).remainder(37) / 8 - 2;
      const at::Tensor g = at::arange(size, wide).remainder(23) / 4 - 3;
      const at::Tensor v = at::arange(size, wide).remainder(29) / 2 - 7;
      const at::Tensor change = g / 2 + w * 0.25 + v * momentum;
      Operand all[3] = {{w.to(at::kBFloat16)}, {g.to(at::kBFloat16)}, {v.to(at::kBFloat16)}};
      const std::vector<Operand> state(all, all + (momentum == 0 ? 2 : 3));
      std::vector<Operand> reads = state;
      reads.push_back({at::full({1}, 0.25, wide)});
      run("update", reads, state, {2}, {.name = "sgd", .momentum = momentum, .weight_decay = 0.25});
      EXPECT_TRUE(all[0][0].equal((w - change * 0.25).to(at::kBFloat16)))
          << size << " elements, momentum " << momentum;
      EXPECT_TRUE(all[2][0].equal((momentum == 0 ? v : change).to(at::kBFloat16)));
    }
  }
}

}  // namespace
}  // namespace paceline::runtime
