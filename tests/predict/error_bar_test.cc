// SPDX-License-Identifier: Apache-2.0
#include "paceline/predict/error_bar.h"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "paceline/predict/predict.h"

namespace paceline::predict {
namespace {

/// A job of which one device's rate is known.
PredictRequest request_on(const std::string& file, const std::string& strategy, plan::Rank ranks) {
  return {.network = plan::network_shape("resnet50"),
          .cluster = cluster::read_cluster(std::string(PACELINE_SOURCE_DIR) + "/clusters/" + file),
          .strategy = strategy,
          .ranks = ranks,
          .samples_per_s = 300,
          .engine = "nccl-2.4"};
}

ErrorBar bar_of(const PredictRequest& request) { return predict(request).bar; }

constexpr auto kTenGigabit = "8x4-2080ti-10gbe.toml";
constexpr auto kBlueFog = "fusion+neighbor-allreduce:topology=inner-outer-exp+awc:window=backward";

TEST(ErrorBar, HoldsWhereItsFamilyWasValidated) {
  for (const char* file : {kTenGigabit, "8x4-2080ti-100gbe.toml", "8x4-2080ti-100gbib.toml"}) {
    const ErrorBar bar = bar_of(request_on(file, "wfbp", 32));
    EXPECT_TRUE(bar.validated) << file << ": " << bar.why;
    EXPECT_EQ(bar.of->family, "merged");
    EXPECT_EQ(bar.share, bar.of->p90_percent / 100);
  }
  EXPECT_TRUE(bar_of(request_on("8x8-v100-4x100gbib.toml", "ddp", 16)).validated);
  PredictRequest neighbors = request_on("16x8-v100-25gb.toml", kBlueFog, 128);
  neighbors.engine = "bluefog";
  EXPECT_TRUE(bar_of(neighbors).validated);
}

cluster::LinkFit message_of(double start_s, double bytes_per_s) {
  return {.operation = "message",
          .ranks = 2,
          .line = plan::alpha_beta_time_of(start_s, 1 / bytes_per_s),
          .error_percent = {}};
}

/// What is said of a request that is unlike what was validated.
std::string why_not(const PredictRequest& request) {
  const ErrorBar bar = bar_of(request);
  EXPECT_FALSE(bar.validated);
  EXPECT_EQ(bar.of, &largest_errors());
  EXPECT_EQ(bar.share, largest_errors().p90_percent / 100);
  return bar.why;
}

TEST(ErrorBar, ClaimsNothingOfOnesOwnFitsOfMessages) {
  PredictRequest neighbors = request_on("16x8-v100-25gb.toml", kBlueFog, 128);
  neighbors.engine = "bluefog";
  cluster::ClusterLink& line = neighbors.cluster.links.at(1);
  line.fits = {message_of(0.5862e-3, 0.5e9)};
  EXPECT_EQ(why_not(neighbors), "a cluster's own fits of messages");
  line.fits.clear();
  EXPECT_EQ(why_not(neighbors), "messages without fits");
  PredictRequest servers =
      request_on(kTenGigabit, "bsp+ps:placement=apart,assign=hash,local=0,servers=4", 12);
  servers.engine = "byteps";
  EXPECT_TRUE(bar_of(servers).validated) << bar_of(servers).why;
  servers.optimizer = "adamw";
  EXPECT_EQ(why_not(servers), "family servers with optimizer adamw");
  servers.optimizer = "sgd";
  servers.cluster.links.at(1).fits = {message_of(0, 0.5e9)};
  EXPECT_EQ(why_not(servers), "a cluster's own fits of messages");
}

TEST(ErrorBar, ClaimsNothingOfWhatNobodyValidated) {
  EXPECT_EQ(why_not(request_on(kTenGigabit, "fusion+fp16", 8)), "such strategies");
  EXPECT_EQ(why_not(request_on("8x8-h100-400gb.toml", "wfbp", 8)),
            "family merged on H100-SXM5-80GB");
  // The same devices, behind another network.
  EXPECT_EQ(why_not(request_on("4x8-v100-100gbib.toml", "ddp", 16)),
            "family reducer on V100-SXM2-16GB behind 8.05 GB/s");
  PredictRequest it = request_on(kTenGigabit, "wfbp", 8);
  for (const char* engine : {"nccl", "gloo", "ideal", "link", "byteps"}) {
    it.engine = engine;
    EXPECT_EQ(why_not(it), std::string("family merged with engine ") + engine);
  }
  it.engine = "nccl-2.4";
  EXPECT_TRUE(bar_of(it).validated);
  it.algorithm = "ring";
  EXPECT_EQ(why_not(it), "--algorithm ring");
  it.algorithm.reset();
  it.optimizer = "adamw";
  EXPECT_TRUE(bar_of(it).validated);
  it.cluster.hosts[0].slots = it.cluster.hosts[1].slots = 32;
  it.ranks = 64;
  EXPECT_EQ(why_not(it), "more than 32 ranks");
  it = request_on(kTenGigabit, "wfbp", 8);
  it.cluster.device.name.clear();
  EXPECT_EQ(why_not(it), "devices without a name");
  EXPECT_EQ(why_not(request_on(kTenGigabit, "wfbp+rs-ag", 8)), "such strategies");
  it = request_on(kTenGigabit, "wfbp", 4);
  EXPECT_EQ(why_not(it), "ranks on one host");
  it.ranks = 8;
  it.noise.sigma = 0.1;
  EXPECT_EQ(why_not(it), "noise");
  it.noise = {};
  it.profile_device = "cpu";
  EXPECT_TRUE(bar_of(it).validated);  // stretched to a rate of the device
  it.profile = predict(it).costs.profile;
  it.samples_per_s.reset();
  EXPECT_EQ(why_not(it), "layers timed on cpu");
  it.profile_device = "NVIDIA GeForce RTX 2080 Ti";
  EXPECT_TRUE(bar_of(it).validated);
}

TEST(ErrorBar, IsNoneOfABareRooflineAndOfAMachineOfOnesOwn) {
  PredictRequest it = request_on(kTenGigabit, "wfbp", 8);
  EXPECT_NE(summary_of(predict(it)).find("  error bar ±"), std::string::npos);
  it.network = plan::network_shape("vgg16");
  it.samples_per_s.reset();
  EXPECT_NE(summary_of(predict(it))
                .find("  no error bar: layer times are a device's data sheet, not measured\n"),
            std::string::npos);
  it.samples_per_s = 200;
  EXPECT_TRUE(bar_of(it).known());
  it.machine = cluster::Machine{};
  const Prediction silent = predict(it);
  EXPECT_EQ(summary_of(silent).find("error bar"), std::string::npos);
  EXPECT_EQ(silent.record.predicted->error_bar, std::nullopt);
}

TEST(ErrorBar, StrategiesOfAFamilyAreComparedByItsPairs) {
  const FamilyErrors merged{.family = "merged", .how = "", .pair_p90_percent = 6, .pairs = 3};
  const FamilyErrors alone{.family = "scheduled", .how = ""};
  const ErrorBar bar{.share = 0.1, .validated = true, .of = &merged};
  EXPECT_DOUBLE_EQ(least_distinguishable_share(bar, bar).value(), 0.06);
  const ErrorBar other{.share = 0.1, .validated = true, .of = &alone};
  EXPECT_EQ(least_distinguishable_share(bar, other), std::nullopt);
  EXPECT_EQ(least_distinguishable_share(other, other), std::nullopt);
  EXPECT_EQ(least_distinguishable_share({.share = 0.1}, {.share = 0.1}), std::nullopt);
  const ErrorBar elsewhere{.share = 0.1, .of = &merged};
  EXPECT_EQ(least_distinguishable_share(bar, elsewhere), std::nullopt);
}

TEST(ErrorBar, SizesAreComparedByPairsOfSizes) {
  const FamilyErrors sizes{.family = "merged",
                           .how = "",
                           .pair_p90_percent = 6,
                           .pairs = 3,
                           .pairs_of_bucket_sizes = true};
  const FamilyErrors others{.family = "servers", .how = "", .pair_p90_percent = 60, .pairs = 3};
  const auto apart = [](const FamilyErrors* of, bool validated) {
    return least_distinguishable_share_of_sizes({.share = 0.1, .validated = validated, .of = of});
  };
  EXPECT_DOUBLE_EQ(apart(&sizes, true).value(), 0.06);
  EXPECT_EQ(apart(nullptr, true), std::nullopt);
  double largest = 0;
  for (const FamilyErrors& row : error_table().families) {
    largest = std::max(largest, row.pairs_of_bucket_sizes ? row.pair_p90_percent : 0);
  }
  EXPECT_DOUBLE_EQ(apart(&sizes, false).value(), largest / 100);
  EXPECT_DOUBLE_EQ(apart(&others, true).value(), largest / 100);
}

TEST(ErrorBar, IsRecordedWithItsIntervalAndItsFamily) {
  const FamilyErrors of{
      .family = "merged", .mean_percent = 3, .p90_percent = 10, .cells = 57, .how = "BSP"};
  const std::int64_t step_ns = 200'000'000;
  EXPECT_EQ(error_bar_record({.share = 0.1, .validated = true, .of = &of}, step_ns),
            (records::ErrorBar{.share = 0.1,
                               .low_ns = 180'000'000,
                               .high_ns = 220'000'000,
                               .level = 0.9,
                               .validated = true,
                               .of = "merged",
                               .how = "BSP",
                               .cells = 57}));
  const auto wide = error_bar_record({.share = 1.5, .of = &of, .why = "x"}, step_ns);
  EXPECT_EQ(wide->low_ns, 0);
  EXPECT_EQ(wide->high_ns, 500'000'000);
  EXPECT_FALSE(wide->validated);
  EXPECT_EQ(error_bar_record({.why = "no rate"}, step_ns), (records::ErrorBar{.why = "no rate"}));
  EXPECT_EQ(error_bar_record({}, step_ns), std::nullopt);
}

}  // namespace
}  // namespace paceline::predict
