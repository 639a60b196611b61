// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <gtest/gtest.h>

#include "paceline/predict/predict.h"
#include "predict/two_nodes.h"

// Steps that are cut into micro-batches.

namespace paceline::predict::micro_batches_test {
namespace {

PredictRequest job_of(const std::string& strategy, int accumulate) {
  PredictRequest job = request(strategy, 8);
  job.engine = "nccl";
  job.optimizer = "adamw";
  job.batch_size = 128;
  job.accumulate = accumulate;
  job.samples_per_s = 500;
  return job;
}

// step_of() leaves out micro-batches that are alike; predict() does not.
TEST(MicroBatches, LeavingThemOutChangesNoStep) {
  for (const char* strategy :
       {"bsp", "ddp", "fusion", "wfbp", "bytescheduler", "rs-ag+zero-1", "none", "mg-wfbp"}) {
    for (const char* engine : {"nccl", "gloo", "ideal"}) {
      PredictRequest job = job_of(strategy, 16);
      job.engine = engine;
      EXPECT_EQ(step_of(job).step, predict(job).times.step) << strategy << " " << engine;
    }
  }
}

// 128 samples at 500 samples/s, however they are cut.
TEST(MicroBatches, TheRateIsThatOfTheJob) {
  for (const int accumulate : {1, 4, 16}) {
    const Prediction prediction = predict(job_of("bsp", accumulate));
    EXPECT_NEAR(plan::seconds_of(prediction.linear), 0.256, 1e-9) << accumulate;
    EXPECT_NEAR(prediction.linear_samples_per_s(), 8 * 500, 1e-4) << accumulate;
    EXPECT_GT(prediction.times.step, prediction.linear);
  }
}

// The update of a measured profile is scaled with its layers.
TEST(MicroBatches, TheRateScalesAProfile) {
  PredictRequest job = job_of("none", 4);
  job.ranks = 1;
  job.profile = predict(job).costs.profile;
  job.update = plan::picoseconds_of(0.01);
  job.samples_per_s = 1000;
  EXPECT_NEAR(plan::seconds_of(predict(job).times.step), 0.128, 1e-6);
}

}  // namespace
}  // namespace paceline::predict::micro_batches_test
