// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "paceline/predict/predict.h"
#include "predict/two_nodes.h"

// Predictions from a measured rate of a device: what of it is the update, and what kernels add.

namespace paceline::predict {
namespace {

TEST(Predict, OneRankRunsAtTheMeasuredRate) {
  const Prediction alone = predict(request("none", 1));
  EXPECT_EQ(alone.times.step, 256'000'000'000);  // 64 / 250 s
  EXPECT_EQ(alone.exposed(), 0);
  EXPECT_EQ(alone.record.configuration.batch_size, 64);
  EXPECT_TRUE(alone.record.warnings.empty());
}

// Ranks that exchange nothing take as long as one alone, whose rate is known with the launches of
// its optimizer.
TEST(Predict, RanksThatTrainAloneRunAtTheMeasuredRate) {
  PredictRequest job = request("none", 1);
  job.engine = "nccl";
  const plan::Picoseconds step = predict(job).times.step;
  job.ranks = 4;
  EXPECT_EQ(predict(job).times.step, step);
  job.strategy = "bsp+local-sgd:every=100";
  EXPECT_GT(predict(job).times.step, step);
}

// Of the hundred steps one sends, and all of it.
TEST(Predict, CountsTheStepInWhichRanksThatTrainAloneMeet) {
  const Prediction alone = predict(request("none", 4));
  const Prediction summed = predict(request("bsp+atc", 4));
  for (const int every : {10, 100}) {
    const Prediction local = predict(request(fmt::format("bsp+local-sgd:every={}", every), 4));
    EXPECT_EQ(*local.record.wire.planned_per_step, *summed.record.wire.planned_per_step / every);
    const auto added = [&](const Prediction& one) {
      return static_cast<double>(one.times.step - alone.times.step);
    };
    EXPECT_GT(added(summed), 0);
    EXPECT_NEAR(added(local), added(summed) / every, added(summed) * 1e-3);
  }
}

// The rate was measured with the update, whose kernels, one a tensor, are rounded to a picosecond
// each.
TEST(Predict, OneRanksUpdateIsPartOfItsRate) {
  PredictRequest wanted = request("none", 1);
  wanted.engine = "nccl";
  wanted.optimizer = "adamw";
  wanted.cluster.device.memory_bytes_per_s = 500e9;
  const Prediction alone = predict(wanted);
  EXPECT_LE(std::abs(alone.times.step - 256'000'000'000),
            std::ssize(wanted.network.model.parameters));
  EXPECT_LT(alone.costs.profile.forward_total() + alone.costs.profile.backward_total(),
            256'000'000'000);
  wanted.samples_per_s = 1e6;
  EXPECT_NE(message_of(wanted).find("the update alone takes"), std::string::npos);
}

/// How long each kernel of the name ran in the second step, and its shape.
std::vector<std::pair<simulator::KernelShape, plan::Picoseconds>> kernels_named(
    const Prediction& prediction, std::string_view name) {
  const simulator::Job& job = *prediction.job;
  simulator::Simulator simulator(job);
  simulator.run(prediction.costs);
  const simulator::Actor& actor = job.actors.front();
  std::vector<std::pair<simulator::KernelShape, plan::Picoseconds>> found;
  for (simulator::ItemId id = actor.steps[1]; id < actor.steps[2]; ++id) {
    const simulator::Item& item = job.items[id];
    if (item.kind != simulator::ItemKind::kKernel) {
      continue;
    }
    const simulator::KernelShape& shape = job.kernel_shapes[static_cast<std::size_t>(item.subject)];
    if (shape.name == name) {
      const simulator::RunInterval& ran = simulator.items()[id];
      found.emplace_back(shape, ran.end - ran.begin);
    }
  }
  return found;
}

// AdamW's launches and passes are its own; a codec's kernel is one launch.
TEST(Predict, OnlyTheUpdateCostsWhatTheOptimizerDoes) {
  PredictRequest wanted = request("fusion+fp16", 8);
  wanted.engine = "nccl-2.4";
  wanted.optimizer = "adamw";
  wanted.cluster.device.memory_bytes_per_s = 616e9;  // copies reach 500
  const Prediction adamw = predict(wanted);
  const auto casts = kernels_named(adamw, "cast");
  const auto updates = kernels_named(adamw, "update");
  ASSERT_FALSE(casts.empty());
  ASSERT_FALSE(updates.empty());
  EXPECT_FALSE(kernels_named(adamw, "count").empty());
  for (const auto& [shape, time] : casts) {
    EXPECT_EQ(time, 20'000'000 + plan::picoseconds_of(static_cast<double>(shape.bytes) / 500e9));
  }
  for (const auto& [shape, time] : updates) {
    EXPECT_EQ(time, shape.tensors * 241'400'000 +
                        plan::picoseconds_of(static_cast<double>(shape.bytes) * 22 / 8 / 500e9));
  }
  wanted.optimizer = "sgd";
  EXPECT_EQ(kernels_named(predict(wanted), "cast"), casts);
}

// What is compressed crosses in fewer bytes, and its selection goes over the gradients three times.
TEST(Predict, CompressedGradientsCostTheirBytesAndTheirKernels) {
  PredictRequest wanted = request("wfbp", 8);
  wanted.engine = "nccl-2.4";
  wanted.cluster.device.memory_bytes_per_s = 616e9;  // copies reach 500
  const Prediction dense = predict(wanted);
  wanted.strategy = "wfbp+topk:density=0.01";
  const Prediction sparse = predict(wanted);
  // An all-reduce sends 2 7/8 of 4 bytes a value, each rank's top 1 % cross to the seven others in
  // 8 bytes a value.
  EXPECT_LT(sparse.job->wire_bytes, dense.job->wire_bytes * 56 / 700 + 56 * 161);
  EXPECT_GT(sparse.job->wire_bytes, dense.job->wire_bytes * 56 / 700 / 2);
  const auto selections = kernels_named(sparse, "topk");
  ASSERT_FALSE(selections.empty());
  for (const auto& [shape, time] : selections) {
    EXPECT_EQ(time,
              20'000'000 + plan::picoseconds_of(3 * static_cast<double>(shape.bytes) / 500e9));
  }
  wanted.strategy = "wfbp+sign";
  const Prediction signs = predict(wanted);
  EXPECT_LT(signs.job->wire_bytes, dense.job->wire_bytes / 7);
}

// An update that was measured says nothing of other kernels, and no launches are added to it.
TEST(Predict, AMeasuredUpdateTakesItsTimeAndNoOther) {
  PredictRequest wanted = request("wfbp+fp16", 8);
  wanted.engine = "nccl";
  wanted.optimizer = "adamw";
  wanted.cluster.device.memory_bytes_per_s = 616e9;  // copies reach 500
  wanted.update = 4'000'000'000;
  const Prediction measured = predict(wanted);
  plan::Picoseconds sum = 0;
  std::int64_t kernels = 0;
  for (const char* name : {"update", "count"}) {
    for (const auto& [shape, time] : kernels_named(measured, name)) {
      sum += time;
      ++kernels;
    }
  }
  EXPECT_LE(std::abs(sum - *wanted.update), kernels);  // rounded, one by one
  wanted.update.reset();
  EXPECT_EQ(kernels_named(measured, "cast"), kernels_named(predict(wanted), "cast"));
}

// A step of 256 + 64 ms on one device, 64 ms on another.
TEST(Predict, ADeviceRateStretchesTheMeasuredUpdateToo) {
  PredictRequest wanted = request("none", 1);
  wanted.batch_size = 64;
  wanted.profile = predict(wanted).costs.profile;
  wanted.update = 64'000'000'000;
  wanted.samples_per_s = 1000;
  const Prediction faster = predict(wanted);
  plan::Picoseconds sum = 0;
  for (const auto& [shape, time] : kernels_named(faster, "update")) {
    sum += time;
  }
  const auto rounded = std::ssize(wanted.network.model.parameters);
  EXPECT_LE(std::abs(sum - 12'800'000'000), rounded);
  EXPECT_LE(std::abs(faster.times.step - 64'000'000'000), rounded);
}

// Four micro-batches, and one update.
TEST(Predict, AccumulatesMicroBatches) {
  PredictRequest wanted = request("none", 1);
  wanted.batch_size = 64;
  const plan::Picoseconds one = predict(wanted).times.step;
  wanted.accumulate = 4;
  wanted.batch_size = 256;
  const Prediction four = predict(wanted);
  EXPECT_EQ(four.times.step, 4 * one);
  EXPECT_EQ(four.record.configuration.accumulate, 4);
  EXPECT_EQ(four.record.configuration.batch_size, 256);
  // Gradients cross once a step.
  PredictRequest two = request("bsp", 4);
  const Prediction each = predict(two);
  two.accumulate = 2;
  two.batch_size = 128;
  EXPECT_EQ(predict(two).record.wire.planned_per_step, each.record.wire.planned_per_step);
  two.batch_size = 127;
  EXPECT_NE(message_of(two).find("cannot be cut into 2 equal micro-batches"), std::string::npos);
}

TEST(Predict, GradientsOfSixteenBitsAreHalfAsLong) {
  PredictRequest job = request("bsp", 4);
  const std::int64_t wide = *predict(job).record.wire.planned_per_step;
  job.network.model.dtype = plan::DType::kBF16;
  const Prediction narrow = predict(job);
  // Tensors are padded to equal shards.
  EXPECT_LE(std::abs(2 * *narrow.record.wire.planned_per_step - wide),
            std::ssize(job.network.model.parameters));
  EXPECT_EQ(narrow.record.configuration.dtype, "bf16");
}

TEST(Predict, GradientsOfEightBitsAreAQuarterAsLongAndNoFasterToCompute) {
  PredictRequest job = request("bsp", 4);
  job.batch_size = 64;
  job.samples_per_s = 250;
  const Prediction wide = predict(job);
  job.network.model.dtype = plan::DType::kF8;
  const Prediction narrow = predict(job);
  EXPECT_LE(std::abs(4 * *narrow.record.wire.planned_per_step - *wide.record.wire.planned_per_step),
            3 * std::ssize(job.network.model.parameters));
  EXPECT_EQ(narrow.compute_only.step, wide.compute_only.step);
  EXPECT_EQ(narrow.record.configuration.dtype, "fp8");
}

TEST(Predict, ComputingInEightBitsNeedsARate) {
  PredictRequest job = request("bsp", 4);
  job.network.model.dtype = plan::DType::kF8;
  EXPECT_EQ(
      message_of(job),
      "--dtype fp8: nothing says how fast the device computes; give --device-rate, a profile, "
      "or fp8_flops and memory_bandwidth of the cluster file's device")
      << "the throughput of the cluster file is not of 8 bits";
  job.cluster.device.fp8_flops_per_s = *job.cluster.device.flops_per_s;
  job.cluster.device.memory_bytes_per_s = 616e9;
  EXPECT_EQ(message_of(job), "no error");
}

}  // namespace
}  // namespace paceline::predict
