// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <gtest/gtest.h>

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

TEST_P(EveryNetwork, TakesOtherImageSizesAndClasses) {
  const NetworkInfo& info = GetParam();
  const NetworkOptions options{.image_size = 40, .classes = 7};
  const auto network = make_network(info, options, 1);
  const Batch batch = make_batch(info, {.batch_size = 2, .network = options});
  EXPECT_EQ(network->forward(batch.input).sizes(), (at::IntArrayRef{2, 7}));
}

INSTANTIATE_TEST_SUITE_P(Table,
                         EveryNetwork,
                         testing::ValuesIn(networks()),
                         [](const auto& row) {
                           std::string name(row.param.name);
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

TEST(Networks, UnknownNameListsTheKnownOnes) {
  try {
    find_network("resnet51");
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_NE(std::string_view(error.what()).find("resnet50, resnet101"),
              std::string_view::npos);
  }
  EXPECT_EQ(find_network("vgg16").image_size, 224);
}

TEST(Networks, RefusesImagesThatVanish) {
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
    const Batch batch = make_batch(info,
                                   {.batch_size = 4,
                                    .channels_last = channels_last,
                                    .dtype = at::kDouble,
                                    .network = options});
    const at::Tensor logits = network->forward(batch.input);
    const at::Tensor value = at::cross_entropy_loss(logits, batch.target);
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
