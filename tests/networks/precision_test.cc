// SPDX-License-Identifier: Apache-2.0
#include "paceline/networks/precision.h"

#include <ATen/autocast_mode.h>
#include <gtest/gtest.h>

#include "paceline/base/error.h"
#include "paceline/networks/network.h"

namespace paceline::networks {
namespace {

TEST(Precision, NamesAreStrict) {
  EXPECT_EQ(parse_precision("fp32"), Precision::kFp32);
  EXPECT_EQ(parse_precision("bf16"), Precision::kBf16);
  EXPECT_EQ(parse_precision("amp"), Precision::kAmp);
  EXPECT_THROW(parse_precision("fp16"), UsageError);
}

TEST(Precision, OnlyFp16IsScaled) {
  EXPECT_TRUE(needs_loss_scaling(Precision::kAmp, at::kCUDA));
  EXPECT_FALSE(needs_loss_scaling(Precision::kAmp, at::kCPU));
  EXPECT_FALSE(needs_loss_scaling(Precision::kBf16, at::kCUDA));
}

TEST(Autocast, ComputesInBf16AndKeepsGradientsInFloat) {
  const NetworkInfo& info = find_network("lenet");
  const auto network = make_network(info, {}, 0);
  const Batch batch = make_batch(info, {.batch_size = 2});
  const auto logits = [&] { return dynamic_cast<Classifier&>(*network).forward(batch.input); };
  at::Tensor loss;
  {
    const Autocast autocast(Precision::kAmp, at::kCPU);
    EXPECT_EQ(logits().scalar_type(), at::kBFloat16);
    loss = network->loss(batch);
  }
  EXPECT_FALSE(at::autocast::is_autocast_enabled(at::kCPU));
  loss.backward();
  for (const at::Tensor& parameter : network->parameters()) {
    EXPECT_EQ(parameter.grad().scalar_type(), at::kFloat);
  }
  const Autocast nothing(Precision::kFp32, at::kCPU);
  EXPECT_EQ(logits().scalar_type(), at::kFloat);
}

TEST(Precision, Bf16NetworkTrainsInBf16Throughout) {
  const NetworkInfo& info = find_network("resnet18");
  const NetworkOptions options{.image_size = 32};
  const auto network = make_network(info, options, 0);
  cast_network(*network, parameter_dtype(Precision::kBf16));
  const Batch batch = make_batch(
      info, {.batch_size = 2, .dtype = parameter_dtype(Precision::kBf16), .network = options});
  network->loss(batch).backward();
  for (const at::Tensor& parameter : network->parameters()) {
    EXPECT_EQ(parameter.grad().scalar_type(), at::kBFloat16);
  }
  const auto buffers = network->named_buffers();
  EXPECT_EQ(buffers["bn1.running_mean"].scalar_type(), at::kBFloat16);
  EXPECT_EQ(buffers["bn1.num_batches_tracked"].scalar_type(), at::kLong);
}

}  // namespace
}  // namespace paceline::networks
