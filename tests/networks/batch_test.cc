// SPDX-License-Identifier: Apache-2.0
#include "paceline/networks/batch.h"

#include <gtest/gtest.h>

#include "paceline/base/error.h"
#include "paceline/networks/network.h"
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
  const Batch high =
      make_batch(info, {.batch_size = 4, .seed = 7 + (std::uint64_t{1} << 32), .rank = 2});
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
  const Batch last = make_batch(info, {.batch_size = 2, .channels_last = true, .network = small});
  EXPECT_TRUE(plain.input.equal(last.input));
  EXPECT_TRUE(last.input.is_contiguous(at::MemoryFormat::ChannelsLast));
}

TEST(TextBatch, HidesFifteenPerCentOfItsWords) {
  const NetworkInfo& info = find_network("bert-tiny");
  constexpr int kTokens = 64, kSamples = 200, kHidden = 10;
  const Batch batch = make_batch(info, {.batch_size = kSamples, .seed = 3});
  ASSERT_EQ(batch.input.sizes(), (at::IntArrayRef{kSamples, 2, kTokens}));
  ASSERT_EQ(batch.target.sizes(), (at::IntArrayRef{kSamples, 1 + kTokens}));
  const at::Tensor words = batch.input.select(1, 0);
  const at::Tensor labels = batch.target.narrow(1, 1, kTokens);
  const at::Tensor hidden = labels.ne(kNoLabel);
  EXPECT_TRUE(hidden.sum(1).eq(kHidden).all().item<bool>());
  EXPECT_LT(labels.max().item<int>(), 30522);
  EXPECT_GT(labels.max().item<int>(), 30000);
  // Of 2000 such words about 1600 are masked and 200 are kept, with standard deviations of 18 and
  // 13.
  EXPECT_NEAR(words.eq(103).logical_and(hidden).sum().item<int>(), 1600, 100);
  EXPECT_NEAR(words.eq(labels).sum().item<int>(), 200, 75);
  EXPECT_TRUE(batch.input.select(1, 1).sum(1).eq(32).all().item<bool>());
  EXPECT_NEAR(batch.target.select(1, 0).sum().item<int>(), 100, 40);
  // Every place is hidden somewhere.
  EXPECT_TRUE(hidden.any(0).all().item<bool>());
}

TEST(TextBatch, IsThatOfTheSurveyWithZeros) {
  const NetworkOptions zeros{.sequence_length = 48, .zeros = true};
  const Batch batch = make_batch(find_network("bert-base"), {.batch_size = 4, .network = zeros});
  EXPECT_EQ(batch.input.sizes(), (at::IntArrayRef{4, 2, 48}));
  EXPECT_EQ(batch.target.count_nonzero().item<int>(), 0);
  EXPECT_EQ(batch.input.select(1, 1).count_nonzero().item<int>(), 0);
  EXPECT_LT(batch.input.max().item<int>(), 2000);
  EXPECT_GT(batch.input.max().item<int>(), 1500);
}

TEST(TextBatch, ALargerBatchBeginsWithTheSmallerOne) {
  const NetworkInfo& info = find_network("bert-tiny");
  const Batch small = make_batch(info, {.batch_size = 3});
  const Batch large = make_batch(info, {.batch_size = 8});
  EXPECT_TRUE(large.input.narrow(0, 0, 3).equal(small.input));
  EXPECT_TRUE(large.target.narrow(0, 0, 3).equal(small.target));
}

TEST(TextBatch, RejectsWhatIsOfImages) {
  const NetworkInfo& text = find_network("bert-tiny");
  const NetworkInfo& image = find_network("lenet");
  EXPECT_THROW(make_batch(text, {.integers = true}), UsageError);
  EXPECT_THROW(make_batch(text, {.network = {.image_size = 64}}), UsageError);
  EXPECT_THROW(make_batch(text, {.network = {.classes = 10}}), UsageError);
  EXPECT_THROW(make_batch(text, {.network = {.sequence_length = -1}}), UsageError);
  EXPECT_THROW(make_batch(image, {.network = {.sequence_length = 64}}), UsageError);
  EXPECT_THROW(text.make({.sequence_length = 513}), UsageError);
}

class IntegerData : public testing::TestWithParam<const char*> {};

/// One backward pass in `dtype`; the gradients as float64.
std::vector<at::Tensor> integer_gradients(const NetworkInfo& info, at::ScalarType dtype) {
  const auto network = make_network(info, {}, 0);
  cast_network(*network, dtype);
  fill_with_integers(*network, 5);
  const Batch batch =
      make_batch(info, {.batch_size = 16, .rank = 1, .integers = true, .dtype = dtype});
  network->loss(batch).backward();
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

INSTANTIATE_TEST_SUITE_P(WithoutBatchNorm, IntegerData,
                         testing::Values("lenet", "mlp", "mlp-large"));

}  // namespace
}  // namespace paceline::networks
