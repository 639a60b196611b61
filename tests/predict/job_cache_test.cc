// SPDX-License-Identifier: Apache-2.0
#include "paceline/simulator/job_cache.h"

#include <gtest/gtest.h>

#include "paceline/predict/predict.h"
#include "predict/two_nodes.h"

namespace paceline::predict {
namespace {

PredictRequest shared(simulator::JobCache& jobs, const std::string& strategy) {
  PredictRequest asked = request(strategy, 8);
  asked.jobs = &jobs;
  return asked;
}

TEST(JobCache, SharesAJobAmongPrices) {
  simulator::JobCache jobs;
  PredictRequest asked = shared(jobs, "wfbp");
  const Prediction first = predict(asked);
  asked.engine = "gloo";
  asked.batch_size = 7;
  asked.samples_per_s = 250;
  const Prediction second = predict(asked);
  EXPECT_EQ(first.job, second.job);
  EXPECT_NE(first.times.step, second.times.step);
  EXPECT_GE(jobs.reused(), 1);
  asked.jobs = nullptr;
  EXPECT_EQ(predict(asked).times.step, second.times.step);
}

TEST(JobCache, KeepsApartWhatIsPlannedApart) {
  simulator::JobCache jobs;
  const Prediction first = predict(shared(jobs, "wfbp"));
  PredictRequest other = shared(jobs, "wfbp");
  other.ranks /= 2;
  EXPECT_NE(predict(other).job, first.job);
  other = shared(jobs, "wfbp");
  other.network.model.parameters.back().name += "'";
  EXPECT_NE(predict(other).job, first.job);
  other = shared(jobs, "wfbp");
  other.noise.sigma = 0.1;
  EXPECT_NE(predict(other).job, first.job);
  EXPECT_NE(predict(shared(jobs, "bsp")).job, first.job);
  EXPECT_EQ(jobs.reused(), 5);  // each for its own bound
  EXPECT_EQ(predict(shared(jobs, "wfbp")).job, first.job);
}

// Its merges follow the times of layers and links.
TEST(JobCache, ReusesNoJobThatIsPlannedByTimes) {
  simulator::JobCache jobs;
  const PredictRequest asked = shared(jobs, "mg-wfbp");
  EXPECT_NE(predict(asked).job, predict(asked).job);
}

}  // namespace
}  // namespace paceline::predict
