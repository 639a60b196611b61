// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "paceline/base/error.h"
#include "paceline/predict/predict.h"
#include "predict/two_nodes.h"

namespace paceline::predict {
namespace {

TEST(Predict, SaysWhereAProfileIsOfAnotherDevice) {
  PredictRequest asked = request("bsp", 2);
  asked.profile = predict(asked).costs.profile;
  const auto codes = [&asked](const std::string& profiled, const std::string& device,
                              const std::string& engine) {
    asked.profile_device = profiled;
    asked.cluster.device.name = device;
    asked.engine = engine;
    std::string all;
    for (const records::Warning& warning : predict(asked).record.warnings) {
      all += warning.code + " ";
    }
    return all;
  };
  const std::string other = "profile-of-another-device ";
  EXPECT_EQ(codes("cpu", "gpu", "gloo"), other);
  EXPECT_EQ(codes("cpu", "", "nccl"), other);
  EXPECT_EQ(codes("cuda", "cpu", "gloo"), other);
  EXPECT_EQ(codes("cpu", "cpu", "gloo"), "");
  EXPECT_EQ(codes("cpu", "", "gloo"), "");
  EXPECT_EQ(codes("cuda", "gpu", "nccl"), "");
  EXPECT_EQ(codes("", "gpu", "nccl"), "");
  asked.samples_per_s = 250;  // of the cluster's device
  EXPECT_EQ(codes("cpu", "gpu", "gloo"), "");
}

TEST(Predict, SaysWhereTablesShowALongerStep) {
  const auto said = [](const std::string& strategy) {
    const Prediction prediction =
        predict({.network = plan::network_shape("resnet50"),
                 .cluster = cluster::read_cluster(std::string(PACELINE_SOURCE_DIR) +
                                                  "/clusters/16x8-v100-25gb.toml"),
                 .strategy = strategy,
                 .ranks = 16,
                 .engine = "bluefog"});
    const records::RunRecord& record = prediction.record;
    std::int64_t slowest = 0;
    for (const records::RankSamples& rank : record.ranks) {
      slowest = std::max(slowest, rank.step_ns.front());
    }
    const std::string words =
        fmt::format("the slowest of each step takes {:.3f} ms", static_cast<double>(slowest) / 1e6);
    return summary_of(prediction).find(words) != std::string::npos;
  };
  EXPECT_TRUE(said("fusion+neighbor-allreduce:topology=inner-outer-exp"));
  EXPECT_FALSE(said("fusion"));
}

TEST(Predict, SaysWhatRestsOnNoMeasurement) {
  PredictRequest asked = request("bsp", 2);
  asked.network = plan::network_shape("vgg16");
  const std::string unknown =
      "nothing says how fast the device computes; give --device-rate, a profile, or flops and "
      "memory_bandwidth of the cluster file's device";
  EXPECT_EQ(message_of(asked), unknown);
  asked.cluster.device.memory_bytes_per_s = 616e9;
  const Prediction prediction = predict(asked);
  ASSERT_EQ(prediction.record.warnings.size(), 1u);
  EXPECT_EQ(prediction.record.warnings[0].code, "no-throughput");
  EXPECT_EQ(prediction.record.configuration.batch_size, 32);
  asked.cluster.device.flops_per_s.reset();
  EXPECT_EQ(message_of(asked), unknown);
}

TEST(Predict, SaysWhereCostsAreTakenBeyondTheirFit) {
  const auto warned = [](PredictRequest asked, plan::Rank ranks) {
    asked.cluster.hosts[0].slots = 512;
    asked.ranks = ranks;
    const auto warnings = predict(asked).record.warnings;
    return std::ranges::any_of(
        warnings, [](const records::Warning& it) { return it.code == "beyond-the-fit"; });
  };
  PredictRequest asked = request("fusion", 8);
  asked.engine = "nccl-2.4";
  EXPECT_FALSE(warned(asked, 32));
  EXPECT_TRUE(warned(asked, 33));
  const cluster::LinkFit own{.operation = "all-reduce",
                             .ranks = 64,
                             .line = {{{.alpha = 1'000'000, .beta_ps_per_byte = 100}}},
                             .error_percent = {},
                             .engine = "nccl"};
  asked.cluster.links[1].fits = {own};
  EXPECT_FALSE(warned(asked, 64));
  asked = request("fusion", 8);
  EXPECT_FALSE(warned(asked, 64));
}

TEST(Predict, BoundsNameTheAlgorithmThatTheyHoldFor) {
  PredictRequest asked = request("bsp", 8);
  const auto bound = [&](const char* algorithm) {
    asked.algorithm = algorithm;
    const Prediction prediction = predict(asked);
    EXPECT_NE(summary_of(prediction).find(std::string(" ms with algorithm ") + algorithm + ":"),
              std::string::npos);
    return prediction.bound.wire;
  };
  EXPECT_EQ(bound("ring"), bound("tree"));
  const std::string alone = summary_of(predict(request("none", 1)));
  EXPECT_EQ(alone.find("algorithm"), std::string::npos) << alone;
}

TEST(Predict, NoiseIsPrintedWithItsSeedAndSpread) {
  PredictRequest noisy = request("fusion", 8);
  EXPECT_EQ(summary_of(predict(noisy)).find("noise of seed"), std::string::npos);
  noisy.noise = {.seed = 7, .sigma = 0.05};
  const Prediction prediction = predict(noisy);
  ASSERT_EQ(prediction.times.window, 10);
  double sum = 0, squares = 0;
  for (std::int64_t ns : slowest_delay_sd(prediction.record)) {
    sum += static_cast<double>(ns) * 1e-6;
    squares += std::pow(static_cast<double>(ns) * 1e-6, 2);
  }
  const double variance = (squares - sum * sum / 10) / 9;
  EXPECT_NE(summary_of(prediction)
                .find(fmt::format(
                    "  noise of seed 7: {:.3f} ± {:.3f} ms, mean and standard error of 10 steps\n",
                    sum / 10, std::sqrt(variance / 10))),
            std::string::npos)
      << summary_of(prediction);
}

}  // namespace
}  // namespace paceline::predict
