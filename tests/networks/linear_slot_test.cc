// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <ATen/autocast_mode.h>
#include <gtest/gtest.h>

#include "paceline/networks/layer.h"

namespace paceline::networks {
namespace {

constexpr int kRows = 3, kIn = 5, kOut = 4;

/// Gives the slot of a weight once, as an executor does.
class OneSlot final : public Gates {
 public:
  void enter(plan::ModuleId /*module*/) override {}
  void leave(plan::ModuleId /*module*/) override {}
  bool gates_backward(plan::ModuleId /*module*/) const override { return false; }
  void enter_backward(plan::ModuleId /*module*/) override {}
  at::Tensor gradient_slot(const at::Tensor& parameter) override {
    asked.push_back(parameter.unsafeGetTensorImpl());
    return asked.size() == 1 ? slot.detach() : at::Tensor();
  }

  at::Tensor slot;
  std::vector<const c10::TensorImpl*> asked;
};

class LinearSlot : public ::testing::Test {
 protected:
  LinearSlot() {
    at::manual_seed(7);
    plain_ = torch::nn::Linear(kIn, kOut);
    layer_ = Linear(kIn, kOut);
    {
      const at::NoGradGuard no_grad;
      layer_->weight.copy_(plain_->weight);
      layer_->bias.copy_(plain_->bias);
    }
    gates_.slot = at::full({kOut, kIn}, 99.0f);
    layer_->bind(&gates_, plan::ModuleId{0});
    input_ = at::randn({kRows, kIn});
  }

  /// Both layers' outputs and gradients have the same bits, that of the input included.
  template <class Use>
  void expect_same(const Use& use) {
    const at::Tensor of_plain = input_.detach().clone().requires_grad_();
    const at::Tensor of_layer = input_.detach().clone().requires_grad_();
    const at::Tensor plain = use(plain_, of_plain);
    const at::Tensor layer = use(layer_, of_layer);
    EXPECT_TRUE(at::equal(layer, plain));
    plain.square().sum().backward();
    layer.square().sum().backward();
    EXPECT_TRUE(at::equal(of_layer.grad(), of_plain.grad()));
    EXPECT_TRUE(at::equal(layer_->weight.grad(), plain_->weight.grad()));
    EXPECT_TRUE(at::equal(layer_->bias.grad(), plain_->bias.grad()));
  }

  torch::nn::Linear plain_{nullptr};
  Linear layer_{nullptr};
  OneSlot gates_;
  at::Tensor input_;
};

TEST_F(LinearSlot, TakesTheWeightsGradientWithoutACopy) {
  expect_same([](auto& layer, const at::Tensor& x) { return layer(x); });
  EXPECT_EQ(layer_->weight.grad().data_ptr(), gates_.slot.data_ptr());
  EXPECT_EQ(gates_.asked,
            (std::vector<const c10::TensorImpl*>{layer_->weight.unsafeGetTensorImpl()}));
}

TEST_F(LinearSlot, ALayerThatIsUsedTwiceHasTheSumOfBothGradients) {
  expect_same([](auto& layer, const at::Tensor& x) {
    return at::cat({layer(x), layer(x * 2)}, 1);
  });
  EXPECT_EQ(gates_.asked.size(), 2u);
}

TEST_F(LinearSlot, ASecondPassAddsToTheGradientOfTheFirst) {
  const auto use = [](auto& layer, const at::Tensor& x) { return layer(x); };
  expect_same(use);
  expect_same(use);
}

TEST_F(LinearSlot, WithoutGatesNobodyIsAsked) {
  layer_->bind(nullptr, {});
  expect_same([](auto& layer, const at::Tensor& x) { return layer(x); });
  EXPECT_TRUE(gates_.asked.empty());
}

TEST_F(LinearSlot, AFrozenWeightHasNoGradient) {
  layer_->weight.set_requires_grad(false);
  layer_(input_).sum().backward();
  EXPECT_TRUE(gates_.asked.empty());
  EXPECT_FALSE(layer_->weight.grad().defined());
  EXPECT_TRUE(layer_->bias.grad().defined());
}

// Autocast multiplies in a type other than the slot's.
TEST_F(LinearSlot, UnderAutocastTheGradientIsAllocated) {
  at::autocast::set_autocast_enabled(at::kCPU, true);
  at::autocast::set_autocast_dtype(at::kCPU, at::kBFloat16);
  const at::Tensor out = layer_(input_);
  at::autocast::clear_cache();
  at::autocast::set_autocast_enabled(at::kCPU, false);
  EXPECT_EQ(out.scalar_type(), at::kBFloat16);
  out.sum().backward();
  EXPECT_TRUE(gates_.asked.empty());
  EXPECT_EQ(layer_->weight.grad().scalar_type(), at::kFloat);
}

}  // namespace
}  // namespace paceline::networks
