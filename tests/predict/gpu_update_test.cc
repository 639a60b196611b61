// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "paceline/predict/predict.h"
#include "predict/two_nodes.h"

namespace paceline::predict {
namespace {

PredictRequest with_adamw(const std::string& strategy, plan::Rank ranks) {
  PredictRequest job = request(strategy, ranks);
  job.engine = "nccl";
  job.optimizer = "adamw";
  job.cluster.device.memory_bytes_per_s = 616e9;  // copies reach 500
  return job;
}

constexpr plan::Picoseconds kStep = 256'000'000'000;  // 64 samples at 250 a s

// Kernels are rounded to a picosecond each.
bool is_about(plan::Picoseconds time, plan::Picoseconds expected) {
  return std::abs(time - expected) < 2000;
}

TEST(GpuUpdate, TakesAsLongOnManyRanksAsOnOne) {
  for (const char* optimizer : {"adamw", "lamb", "lars"}) {
    for (const bool unfused : {false, true}) {
      PredictRequest job = with_adamw("bsp", 1);
      job.optimizer = optimizer;
      job.unfused = unfused;
      EXPECT_TRUE(is_about(predict(job).times.step, kStep)) << optimizer << unfused;
      job.ranks = 8;
      const Prediction eight = predict(job);
      EXPECT_TRUE(is_about(eight.compute_only.step, kStep)) << optimizer << unfused;
    }
  }
}

// What is left of a step for the update; fused kernels hide their launches.
TEST(GpuUpdate, ReadsOnceMoreForNorms) {
  const auto update = [](const char* optimizer) {
    PredictRequest job = with_adamw("none", 1);
    job.optimizer = optimizer;
    const plan::LayerProfile profile = predict(job).costs.profile;
    return static_cast<double>(kStep - profile.forward_total() - profile.backward_total());
  };
  EXPECT_NEAR(update("lamb") / update("adamw"), 12.0 / 8, 1e-6);
  EXPECT_NEAR(update("lars") / update("sgd"), 8.0 / 6, 1e-6);
}

TEST(GpuUpdate, OfALayerwiseOptimizerTakesWholeTensors) {
  PredictRequest job = with_adamw("rs-ag+zero-1", 8);
  job.optimizer = "lamb";
  EXPECT_TRUE(message_of(job).starts_with("optimizer 'lamb' scales the step of '"));
  EXPECT_NE(message_of(job).find("'fusion:bucket-mb=25+rs-ag+zero-1' updates a part"),
            std::string::npos)
      << message_of(job);
}

TEST(GpuUpdate, LaunchesAKernelATensorOnlyWhereItIsUnfused) {
  PredictRequest job = with_adamw("none", 1);
  const auto model_work = [&] {
    const plan::LayerProfile profile = predict(job).costs.profile;
    return profile.forward_total() + profile.backward_total();
  };
  const plan::Picoseconds fused = model_work();
  job.unfused = true;
  const auto tensors = static_cast<std::int64_t>(job.network.model.parameters.size());
  EXPECT_LT(model_work(), fused - tensors * 241'400'000);
}

TEST(GpuUpdate, SaysWhatOfItTakesLongerThanTheStep) {
  PredictRequest job = with_adamw("none", 1);
  job.unfused = true;
  job.samples_per_s = 25000;
  EXPECT_NE(message_of(job).find("; leave out --unfused, which launches "), std::string::npos)
      << message_of(job);
}

// A published program of 2020 launches updates when its last collective has ended.
TEST(GpuUpdate, WarnsOfLaunchesThatOneRankDoesNotWaitFor) {
  const auto codes = [](plan::Rank ranks, const std::string& engine) {
    PredictRequest job = with_adamw("bsp", ranks);
    job.engine = engine;
    std::vector<std::string> all;
    for (const records::Warning& warning : predict(job).record.warnings) {
      all.push_back(warning.code);
    }
    return all;
  };
  EXPECT_EQ(codes(8, "nccl-2.4"), std::vector<std::string>{"launches-of-a-published-program"});
  EXPECT_TRUE(codes(1, "nccl-2.4").empty());
  EXPECT_TRUE(codes(8, "nccl").empty());
}

// The rate of one device was measured with the update in it, wherever a strategy puts the update.
TEST(GpuUpdate, LeavesOneDeviceItsRate) {
  for (const char* engine : {"nccl", "ideal"}) {
    for (const char* strategy : {"none", "bsp", "fusion", "wfbp", "mg-wfbp", "bytescheduler"}) {
      PredictRequest job = with_adamw(strategy, 1);
      job.engine = engine;
      EXPECT_TRUE(is_about(predict(job).times.step, kStep))
          << engine << ' ' << strategy << ' ' << predict(job).times.step;
    }
  }
}

// An average of parameters waits for their update, so that the update does not wait for the end of
// the backward pass.
TEST(GpuUpdate, GoesAheadOfModelWorkWhereCommunicationWaitsForIt) {
  const Prediction job = predict(with_adamw("fusion+neighbor-allreduce+atc", 8));
  EXPECT_LT(plan::seconds_of(job.exposed()), 0.8 * plan::seconds_of(job.bound.wire));
}

}  // namespace
}  // namespace paceline::predict
