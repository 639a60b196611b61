// SPDX-License-Identifier: Apache-2.0
#include "paceline/predict/roofline.h"

#include <gtest/gtest.h>

#include "paceline/base/error.h"

namespace paceline::predict {
namespace {

using plan::LayerKind;
using plan::LayerWork;

plan::NetworkShape two_layers(const LayerWork& first, const LayerWork& second) {
  plan::NetworkShape network;
  network.model.name = "two";
  network.model.modules = {"a", "b"};
  network.model.parameters = {
      {.name = "a.weight", .sizes = {100}, .elements = 100, .module = {}},
      {.name = "b.weight", .sizes = {100}, .elements = 100, .module = plan::ModuleId{1}},
      {.name = "b.bias", .sizes = {25}, .elements = 25, .module = plan::ModuleId{1}}};
  network.model.ready_order = {plan::ParameterId{2}, plan::ParameterId{1}, plan::ParameterId{0}};
  network.work = {first, second};
  return network;
}

TEST(Roofline, TakesTheLongerOfArithmeticAndMemory) {
  const auto network = two_layers({.flops = 1e6, .bytes = 100}, {.flops = 10, .bytes = 1e6});
  const auto profile =
      roofline_profile(network, 2, {.flops_per_s = 1e9, .memory_bytes_per_s = 1e9});
  EXPECT_EQ(profile.forward[0], 2'000'000'000);         // 2e6 / 1e9 s
  EXPECT_EQ(profile.forward[1], 2'000'500'000);         // (2e6 + 500) / 1e9 s
  EXPECT_EQ(profile.backward[2], 2 * 2'000'500'000LL);  // first of module b
  EXPECT_EQ(profile.backward[1], 0);
  EXPECT_EQ(profile.backward[0], 4'000'000'000);
}

TEST(Roofline, KnowsHowConvolutionsRun) {
  const LayerWork plain{.kind = LayerKind::kConvolution, .flops = 9e6, .kernel = 3};
  LayerWork strided = plain;
  strided.stride = 2;
  const auto profile =
      roofline_profile(two_layers(plain, strided), 1,
                       {.flops_per_s = 1e9, .memory_bytes_per_s = 1e12, .strided = 1.5});
  EXPECT_EQ(profile.forward[0], 4'000'000'000);
  EXPECT_EQ(profile.forward[1], 13'500'000'000);
}

TEST(Roofline, HasARateOfEightBits) {
  const RooflineCosts& costs = shipped_costs().roofline;
  cluster::ClusterDevice device;
  device.flops_per_s = 1e12;
  const auto rate = [&](plan::DType dtype) {
    return roofline_of(device, costs, dtype).flops_per_s;
  };
  EXPECT_EQ(rate(plan::DType::kF8), costs.product_share * 1e12);
  device.fp8_flops_per_s = 2e12;
  EXPECT_EQ(rate(plan::DType::kF8), costs.product_share * 2e12);
  EXPECT_EQ(rate(plan::DType::kBF16), costs.product_share * 1e12);
}

TEST(Roofline, SpreadsAMeasuredTimeExactly) {
  for (const std::string& name : plan::network_names()) {
    SCOPED_TRACE(name);
    const auto network = plan::network_shape(name);
    auto profile = roofline_profile(network, 8);
    plan::check_profile(network.model, profile);
    for (const plan::Picoseconds total :
         {plan::Picoseconds{1'000'003}, plan::Picoseconds{252'864'480'000}}) {
      profile = profile_scaled_to(profile, total);
      EXPECT_EQ(profile.forward_total() + profile.backward_total(), total);
      for (const plan::Picoseconds time : profile.backward) {
        EXPECT_GE(time, 0);
      }
    }
  }
}

TEST(Roofline, RejectsABatchOfNothing) {
  EXPECT_THROW(roofline_profile(two_layers({}, {}), 0), UsageError);
}

}  // namespace
}  // namespace paceline::predict
