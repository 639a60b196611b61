// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <optional>
#include <vector>

#include <gtest/gtest.h>
#include <torch/nn/utils/clip_grad.h>

#include "paceline/runtime/kernels/call.h"
#include "paceline/runtime/kernels/kernels.h"

namespace paceline::runtime {
namespace {

/// By what gradients are divided.
double factor_of(const Operand& gradients, double largest, double divisor,
                 std::optional<double> scale) {
  const at::Tensor squares = at::empty({1}, at::kDouble);
  const at::Tensor applied = at::full({1}, scale.value_or(7), at::kFloat);
  run_square_sum({}, {.reads = {gradients}, .writes = {{squares}}, .numbers = {}});
  const std::vector<double> numbers{largest, divisor, 1};
  Call call{.reads = {{squares}}, .writes = {{applied}}, .numbers = numbers};
  if (scale) {
    call.reads.push_back({applied});
  }
  run_clip({}, call);
  return applied.item<double>() * divisor;
}

TEST(Clip, DividesAsClipGradNormMultiplies) {
  torch::manual_seed(3);
  const Operand gradients{at::randn({1003}), at::randn({8})};
  for (const double largest : {0.5, 20.0, 1000.0}) {
    std::vector<at::Tensor> theirs;
    for (const at::Tensor& one : gradients) {
      theirs.push_back(at::zeros_like(one).requires_grad_());
      theirs.back().mutable_grad() = one.clone();
    }
    torch::nn::utils::clip_grad_norm_(theirs, largest);
    const double factor = factor_of(gradients, largest, 1, {});
    for (std::size_t i = 0; i < theirs.size(); ++i) {
      EXPECT_TRUE(at::allclose(theirs[i].grad(), gradients[i] / factor, 1e-6, /*atol=*/0))
          << largest;
    }
  }
}

// 3, 4 and zeros; a sum over two ranks of a loss times 8.
TEST(Clip, SeesTheMeanOfTheUnscaledGradients) {
  at::Tensor gradients = at::zeros({37});
  gradients[0] = 3 * 2 * 8;
  gradients[36] = 4 * 2 * 8;
  EXPECT_FLOAT_EQ(static_cast<float>(factor_of({gradients}, 2.5, 2, 8.0)),
                  static_cast<float>(2 * 8 * (5 + 1e-6) / 2.5));
  EXPECT_EQ(factor_of({gradients.to(at::kDouble)}, 6, 2, 8.0), 16);
  EXPECT_EQ(factor_of({gradients.to(at::kBFloat16)}, 80, 1, {}), 1);
}

TEST(Clip, OfGradientsThatAreNotFiniteLeavesNoFiniteStep) {
  EXPECT_TRUE(std::isnan(factor_of({at::full({3}, NAN)}, 1, 1, {})));
  EXPECT_TRUE(std::isinf(factor_of({at::full({3}, INFINITY)}, 1, 1, {})));
}

}  // namespace
}  // namespace paceline::runtime
