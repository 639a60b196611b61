// SPDX-License-Identifier: Apache-2.0
#include "paceline/networks/batch.h"

#include <gtest/gtest.h>

#include "paceline/base/error.h"
#include "paceline/networks/precision.h"

namespace paceline::networks {
namespace {

TEST(Batch, DependsOnSeedAndRankAlone) {
  const NetworkInfo& info = find_network("lenet");
  const Batch one = make_batch(info, {.batch_size = 4, .seed = 7, .rank = 2});
  const Batch same = make_batch(info, {.batch_size = 4, .seed = 7, .rank = 2});
  EXPECT_TRUE(one.input.equal(same.input));
  EXPECT_TRUE(one.target.equal(same.target));
  const Batch rank = make_batch(info, {.batch_size = 4, .seed = 7, .rank = 3});
  const Batch seed = make_batch(info, {.batch_size = 4, .seed = 8, .rank = 2});
  const Batch high = make_batch(
      info, {.batch_size = 4, .seed = 7 + (std::uint64_t{1} << 32), .rank = 2});
  EXPECT_FALSE(one.input.equal(rank.input));
  EXPECT_FALSE(one.input.equal(seed.input));
  EXPECT_FALSE(one.input.equal(high.input));
}

TEST(Batch, ALargerBatchBeginsWithTheSmallerOne) {
  const NetworkInfo& info = find_network("mlp");
  const Batch small = make_batch(info, {.batch_size = 3});
  const Batch large = make_batch(info, {.batch_size = 8});
  EXPECT_TRUE(large.input.narrow(0, 0, 3).equal(small.input));
  EXPECT_TRUE(large.target.narrow(0, 0, 3).equal(small.target));
}

TEST(Batch, IsUniformInItsRanges) {
  const NetworkInfo& info = find_network("resnet18");
  const Batch batch = make_batch(info, {.batch_size = 8});
  EXPECT_EQ(batch.input.sizes(), (at::IntArrayRef{8, 3, 224, 224}));
  EXPECT_GE(batch.input.min().item<float>(), 0);
  EXPECT_LT(batch.input.max().item<float>(), 1);
  // 1.2 million samples: standard deviations of mean and variance are 3e-4.
  EXPECT_NEAR(batch.input.mean().item<double>(), 0.5, 2e-3);
  EXPECT_NEAR(batch.input.var().item<double>(), 1.0 / 12, 2e-3);
  EXPECT_GE(batch.target.min().item<int>(), 0);
  EXPECT_LT(batch.target.max().item<int>(), 1000);
  EXPECT_THROW(make_batch(info, {.batch_size = 0}), UsageError);
}

TEST(Batch, LayoutChangesNoValue) {
  const NetworkInfo& info = find_network("resnet18");
  const NetworkOptions small{.image_size = 32};
  const Batch plain = make_batch(info, {.batch_size = 2, .network = small});
  const Batch last = make_batch(
      info, {.batch_size = 2, .channels_last = true, .network = small});
  EXPECT_TRUE(plain.input.equal(last.input));
  EXPECT_TRUE(last.input.is_contiguous(at::MemoryFormat::ChannelsLast));
}

class IntegerData : public testing::TestWithParam<const char*> {};

/// One backward pass in `dtype`; the gradients as float64.
std::vector<at::Tensor> integer_gradients(const NetworkInfo& info,
                                          at::ScalarType dtype) {
  const auto network = make_network(info, {}, 0);
  cast_network(*network, dtype);
  fill_with_integers(*network, 5);
  const Batch batch = make_batch(
      info, {.batch_size = 16, .rank = 1, .integers = true, .dtype = dtype});
  integer_loss(network->forward(batch.input), batch.target).backward();
  std::vector<at::Tensor> gradients;
  for (const at::Tensor& parameter : network->parameters()) {
    gradients.push_back(parameter.grad().to(at::kDouble));
  }
  return gradients;
}

TEST_P(IntegerData, GradientsAreExactIntegersWithRoomForManyRanks) {
  const NetworkInfo& info = find_network(GetParam());
  const auto exact = integer_gradients(info, at::kDouble);
  const auto single = integer_gradients(info, at::kFloat);
  ASSERT_EQ(exact.size(), single.size());
  for (std::size_t i = 0; i < exact.size(); ++i) {
    EXPECT_TRUE(exact[i].equal(single[i])) << "parameter " << i;
    EXPECT_TRUE(exact[i].equal(exact[i].round())) << "parameter " << i;
    EXPECT_LT(exact[i].abs().max().item<double>(), 1 << 18);
    EXPECT_GT(exact[i].abs().max().item<double>(), 0) << "parameter " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(WithoutBatchNorm,
                         IntegerData,
                         testing::Values("lenet", "mlp", "mlp-large"));

}  // namespace
}  // namespace paceline::networks
