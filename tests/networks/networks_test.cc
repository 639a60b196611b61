// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "networks/test_name.h"
#include "paceline/base/error.h"
#include "paceline/networks/batch.h"
#include "paceline/networks/layer.h"
#include "paceline/networks/network.h"
#include "paceline/networks/precision.h"

namespace paceline::networks {
namespace {

class EveryNetwork : public testing::TestWithParam<NetworkInfo> {};

TEST_P(EveryNetwork, EveryParameterBelongsToAGatedLayer) {
  const auto network = GetParam().make({});
  std::size_t gated = 0;
  for (const auto& module : network->modules()) {
    const std::size_t own = module->parameters(/*recurse=*/false).size();
    if (dynamic_cast<Gated*>(module.get()) != nullptr) {
      gated += own;
    } else {
      EXPECT_EQ(own, 0U) << module->name();
    }
  }
  EXPECT_EQ(gated, network->parameters().size());
}

bool reads_text(const NetworkInfo& info) { return std::holds_alternative<TextSample>(info.sample); }

class EveryClassifier : public testing::TestWithParam<NetworkInfo> {};

TEST_P(EveryClassifier, TakesOtherImageSizesAndClasses) {
  const NetworkInfo& info = GetParam();
  const NetworkOptions options{.image_size = 40, .classes = 7};
  const auto network = make_network(info, options, 1);
  const Batch batch = make_batch(info, {.batch_size = 2, .network = options});
  EXPECT_EQ(dynamic_cast<Classifier&>(*network).forward(batch.input).sizes(),
            (at::IntArrayRef{2, 7}));
}

TEST(Bert, TakesOtherSequenceLengths) {
  const NetworkInfo& info = find_network("bert-tiny");
  const auto loss = [&](int tokens) {
    const NetworkOptions options{.sequence_length = tokens};
    const auto network = make_network(info, options, 1);
    return network->loss(make_batch(info, {.batch_size = 2, .network = options})).item<double>();
  };
  // Words and next sentences are as good as guessed at the start.
  for (const int tokens : {1, 7, 512}) {
    EXPECT_NEAR(loss(tokens), std::log(30528) + std::log(2), 0.7) << tokens;
  }
}

TEST(Bert, EveryParameterGetsAGradient) {
  const NetworkInfo& info = find_network("bert-tiny");
  const auto network = make_network(info, {}, 1);
  network->loss(make_batch(info, {.batch_size = 2})).backward();
  for (const auto& item : network->named_parameters()) {
    ASSERT_TRUE(item.value().grad().defined()) << item.key();
    EXPECT_GT(item.value().grad().count_nonzero().item<int>(), 0) << item.key();
  }
}

std::vector<NetworkInfo> classifiers() {
  std::vector<NetworkInfo> all = networks();
  std::erase_if(all, reads_text);
  return all;
}

INSTANTIATE_TEST_SUITE_P(Table, EveryNetwork, testing::ValuesIn(networks()), test_name);
INSTANTIATE_TEST_SUITE_P(Table, EveryClassifier, testing::ValuesIn(classifiers()), test_name);

TEST(Networks, UnknownNameListsTheKnownOnes) {
  try {
    find_network("resnet51");
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_NE(std::string_view(error.what()).find("resnet50, resnet101"), std::string_view::npos);
  }
  EXPECT_EQ(std::get<ImageSample>(find_network("vgg16").sample).side, 224);
}

TEST(Networks, RejectsImagesThatVanish) {
  EXPECT_THROW(find_network("resnet18").make({.image_size = 31}), UsageError);
  EXPECT_THROW(find_network("vgg16").make({.image_size = 31}), UsageError);
  EXPECT_THROW(find_network("lenet").make({.image_size = 15}), UsageError);
  EXPECT_THROW(find_network("mlp").make({.image_size = -1}), UsageError);
  EXPECT_THROW(find_network("mlp").make({.classes = -1}), UsageError);
}

TEST(Networks, SeedDecidesTheStart) {
  const NetworkInfo& info = find_network("lenet");
  const auto one = make_network(info, {}, 1)->parameters();
  const auto same = make_network(info, {}, 1)->parameters();
  const auto other = make_network(info, {}, 2)->parameters();
  EXPECT_TRUE(one.front().equal(same.front()));
  EXPECT_FALSE(one.front().equal(other.front()));
}

TEST(Networks, ChannelsLastKeepsTheLossAndTheLayout) {
  const NetworkInfo& info = find_network("resnet18");
  const NetworkOptions options{.image_size = 32, .classes = 10};
  const auto loss = [&](bool channels_last) {
    const auto network = make_network(info, options, 3);
    cast_network(*network, at::kDouble);
    if (channels_last) {
      to_channels_last(*network);
    }
    const Batch batch = make_batch(info, {.batch_size = 4,
                                          .channels_last = channels_last,
                                          .dtype = at::kDouble,
                                          .network = options});
    const at::Tensor value = network->loss(batch);
    value.backward();
    for (const at::Tensor& parameter : network->parameters()) {
      EXPECT_EQ(parameter.grad().strides(), parameter.strides());
    }
    return value.item<double>();
  };
  EXPECT_NEAR(loss(true), loss(false), 1e-9);
}

}  // namespace
}  // namespace paceline::networks
