// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "paceline/base/error.h"
#include "paceline/predict/predict.h"

namespace paceline::predict {

inline constexpr auto kCluster = R"(
name = "two nodes"
source = "a test"
[[hosts]]
name = "n"
count = 2
slots = 4
[[links]]
joins = "devices"
sharing = "device"
rate = "12GB/s"
latency = "5us"
[[links]]
joins = "hosts"
rate = "10Gbit"
latency = "25us"
[device]
name = "gpu"
flops = "13TFLOP/s"
[[device.throughput]]
model = "resnet50"
batch_size = 64
samples_per_s = 250
)";

inline PredictRequest request(const std::string& strategy, plan::Rank ranks) {
  return {.network = plan::network_shape("resnet50"),
          .cluster = cluster::parse_cluster(kCluster, "c.toml"),
          .strategy = strategy,
          .ranks = ranks,
          .engine = "ideal"};
}

inline std::string message_of(const PredictRequest& wrong) {
  try {
    predict(wrong);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no error";
}

/// The recorded steps, ns, of the slowest rank each.
inline std::vector<std::int64_t> slowest_delay_sd(const records::RunRecord& record) {
  std::vector<std::int64_t> steps = record.ranks.front().step_ns;
  for (const records::RankSamples& rank : record.ranks) {
    for (std::size_t i = 0; i < steps.size(); ++i) {
      steps[i] = std::max(steps[i], rank.step_ns[i]);
    }
  }
  return steps;
}

}  // namespace paceline::predict
