// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>

#include <gtest/gtest.h>

#include "paceline/base/error.h"
#include "paceline/predict/predict.h"
#include "simulator/toy.h"

namespace paceline::predict {
namespace {

PredictRequest job_on(const std::string& strategy, plan::Rank ranks) {
  return {.network = plan::network_shape("resnet50"),
          .cluster = cluster::read_cluster(std::string(PACELINE_SOURCE_DIR) +
                                           "/clusters/16x8-v100-25gb.toml"),
          .strategy = strategy,
          .ranks = ranks};
}

Prediction noisy(const std::string& strategy, plan::Rank ranks, double sigma) {
  PredictRequest asked = job_on(strategy, ranks);
  asked.engine = "ideal";
  asked.cluster.device.memory_bytes_per_s.reset();  // updates take no time
  asked.steps = 50;
  asked.noise = {.seed = 3, .sigma = sigma};
  return predict(asked);
}

plan::Picoseconds default_step(const std::string& strategy, plan::Rank ranks) {
  return predict(job_on(strategy, ranks)).times.step;
}

plan::Picoseconds long_step(const std::string& strategy, plan::Rank ranks) {
  PredictRequest asked = job_on(strategy, ranks);
  asked.steps = 60;
  const Prediction prediction = predict(asked);
  EXPECT_TRUE(prediction.times.steady);
  return prediction.times.step;
}

// A partner of each distance in turn: 5 steps at 32 ranks, 6 at 64.
TEST(Steps, AreEnoughForALongPeriod) {
  const std::string one_peer = "fusion+neighbor-allreduce+atc";
  EXPECT_EQ(default_step(one_peer, 32), long_step(one_peer, 32));
  EXPECT_EQ(default_step(one_peer, 64), long_step(one_peer, 64));
  const Prediction shown = predict(job_on(one_peer, 64));
  EXPECT_EQ(shown.job->period, 6);
  EXPECT_EQ(shown.record.configuration.steps, 12);  // 10 are no whole periods
}

TEST(Steps, PeriodsAreThePlanners) {
  const auto period = [](const std::string& strategy, plan::Rank world) {
    return simulator::period_of(*simulator::planner_of(strategy), simulator::toy_input(3, world));
  };
  EXPECT_EQ(period("fusion", 8), 1);
  EXPECT_EQ(period("ddp", 8), 1);  // but for step 0
  EXPECT_EQ(period("fusion+neighbor-allreduce+atc", 1024), 10);
  auto wheels = simulator::toy_input(3, 8 * 97);
  wheels.local_world = simulator::hosts_of(8 * 97, 97);
  const auto planner = simulator::planner_of("bsp+neighbor-allreduce:topology=inner-outer-exp");
  EXPECT_EQ(simulator::period_of(*planner, wheels), 97 * 7 * 3);
  wheels.world = 16 * 97;
  wheels.local_world = simulator::hosts_of(wheels.world, 97);
  EXPECT_THROW(simulator::period_of(*planner, wheels),
               UsageError);  // 97 * 7 * 4
}

// The record and the summary take their means over the same steps.
TEST(Steps, OfTheRecordAreThoseOfTheMean) {
  for (const Prediction& prediction : {predict(job_on("fusion+neighbor-allreduce+atc", 32)),
                                       predict(job_on("dear", 16)), noisy("bsp", 8, 0.1)}) {
    plan::Picoseconds slowest = 0;
    for (const records::RankSamples& rank : prediction.record.ranks) {
      EXPECT_EQ(rank.window_ns,
                std::accumulate(rank.step_ns.begin(), rank.step_ns.end(), std::int64_t{0}));
      slowest = std::max(slowest, rank.window_ns * 1000);
    }
    const auto steps = static_cast<plan::Picoseconds>(prediction.record.ranks[0].step_ns.size());
    EXPECT_NEAR(static_cast<double>(slowest / steps), static_cast<double>(prediction.times.step),
                1000);  // the record has whole nanoseconds
  }
}

// Under bsp all begin the next forward together, however late one of them was.
TEST(Steps, LastFromForwardToForward) {
  const Prediction prediction = noisy("bsp", 8, 0.1);
  const records::RankSamples& first = prediction.record.ranks[0];
  EXPECT_NE(first.step_ns.front(), first.step_ns.back());
  for (const records::RankSamples& rank : prediction.record.ranks) {
    EXPECT_EQ(rank.step_ns, first.step_ns);
    EXPECT_NE(rank.phase_ns.at("forward"), rank.phase_ns.at("backward"));
  }
}

TEST(Steps, WithoutCommunicationAreTimedEachByItself) {
  const Prediction alone = noisy("none", 1, 0.3);
  const records::RankSamples& rank = alone.record.ranks[0];
  EXPECT_NE(rank.step_ns.front(), rank.step_ns.back());
  EXPECT_EQ(rank.step_ns, rank.compute_only_step_ns);
  EXPECT_EQ(alone.exposed(), 0);
  EXPECT_EQ(alone.times.compute, alone.times.step);
}

TEST(Steps, ABoundKnowsNoNoise) {
  EXPECT_NE(summary_of(noisy("bsp", 8, 0.1)).find("bound without noise"), std::string::npos);
  EXPECT_EQ(summary_of(predict(job_on("bsp", 8))).find("without noise"), std::string::npos);
}

// Four of eight ranks serve.
TEST(Steps, CountSamplesOfRanksThatTrain) {
  PredictRequest asked = job_on("wfbp+ps:placement=apart", 8);
  asked.batch_size = 64;
  const Prediction servers = predict(asked);
  EXPECT_EQ(servers.record.ranks.size(), 4U);
  EXPECT_DOUBLE_EQ(servers.samples_per_s(), 4 * 64 / plan::seconds_of(servers.times.step));
}

}  // namespace
}  // namespace paceline::predict
