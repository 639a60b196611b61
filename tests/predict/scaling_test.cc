// SPDX-License-Identifier: Apache-2.0
#include "paceline/predict/scaling.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "predict/two_nodes.h"

namespace paceline::predict::scaling_test {
namespace {

/// Two nodes, or `hosts` like them.
PredictRequest job_of(plan::Rank ranks, const std::string& strategy = "bsp", int hosts = 2) {
  PredictRequest job = request(strategy, ranks);
  std::string text = kCluster;
  text.replace(text.find("count = 2"), 9, fmt::format("count = {}", hosts));
  job.cluster = cluster::parse_cluster(text, "c.toml");
  job.batch_size = 64;
  return job;
}

AdviseRequest request_of(double error) {
  AdviseRequest request;
  request.job = job_of(8);
  request.error = error;
  return request;
}

double step_s(const PredictRequest& job) { return plan::seconds_of(step_of(job).step); }

std::vector<plan::Rank> ranks_of(const Scaling& scaling) {
  std::vector<plan::Rank> ranks;
  for (const ScaledWorld& world : scaling.worlds) {
    ranks.push_back(world.ranks);
  }
  return ranks;
}

/// From which of the worlds on all are below 90 %, where efficiency is `factor` times that of the
/// steps; each simulated by itself.
std::optional<plan::Rank> knee_of(double factor) {
  const double alone = step_s(job_of(1, "none"));
  std::optional<plan::Rank> knee;
  for (const plan::Rank ranks : {2, 4, 8, 16, 32, 64}) {
    const double efficiency = factor * alone / step_s(job_of(ranks, "bsp", 16));
    knee = efficiency >= 0.9 ? std::nullopt : std::optional(knee.value_or(ranks));
  }
  return knee;
}

// Four ranks share a node; the network carries a step's gradients in about half of its compute.
TEST(Scaling, FindsFromWhichNumberOfRanksEfficiencyFalls) {
  const Scaling scaling = scaling_of(request_of(0.2), "bsp");
  EXPECT_EQ(ranks_of(scaling), (std::vector<plan::Rank>{2, 4, 8, 16, 32, 64}));
  EXPECT_EQ(scaling.described, 8);
  EXPECT_EQ(scaling.end, "");
  const double alone = step_s(job_of(1, "none"));
  for (const ScaledWorld& world : scaling.worlds) {
    const double expected = alone / step_s(job_of(world.ranks, "bsp", 16));
    EXPECT_NEAR(world.efficiency, expected, 1e-6) << world.ranks;
    EXPECT_NEAR(world.low, expected / 1.2, 1e-6) << world.ranks;
    EXPECT_NEAR(world.high, expected / 0.8, 1e-6) << world.ranks;
  }
  ASSERT_TRUE(scaling.knee());
  EXPECT_EQ(scaling.knee(), 8);
  EXPECT_EQ(scaling.knee(), knee_of(1));
  EXPECT_EQ(scaling.earliest_knee(), knee_of(1 / 1.2));
  EXPECT_LT(*scaling.earliest_knee(), 8);
  EXPECT_EQ(scaling.latest_knee(), knee_of(1 / 0.8));
  // A band so wide that efficiency may stay.
  const Scaling unsure = scaling_of(request_of(0.6), "bsp");
  EXPECT_EQ(unsure.knee(), 8);
  EXPECT_FALSE(unsure.latest_knee());
}

TEST(Scaling, FindsNoEndWhereCommunicationHides) {
  AdviseRequest fast = request_of(0.01);
  for (cluster::ClusterLink& link : fast.job.cluster.links) {
    link.bytes_per_s = 400e9;
  }
  const Scaling scaling = scaling_of(fast, "wfbp");
  EXPECT_EQ(scaling.worlds.back().ranks, 64);
  EXPECT_GT(scaling.worlds.back().efficiency, 0.95);
  EXPECT_FALSE(scaling.knee());
  EXPECT_FALSE(scaling.earliest_knee());
  fast.error = 0.3;  // the upper end of the step is below 90 % everywhere
  EXPECT_EQ(scaling_of(fast, "wfbp").earliest_knee(), 2);
}

TEST(Scaling, AKneeIsBelowForGood) {
  Scaling scaling;
  const auto knee = [&](const std::vector<double>& efficiencies) {
    scaling.worlds.clear();
    plan::Rank ranks = 1;
    for (const double efficiency : efficiencies) {
      scaling.worlds.push_back({.ranks = ranks *= 2, .advice = {}, .efficiency = efficiency});
    }
    return scaling.knee();
  };
  EXPECT_EQ(knee({0.95, 0.85, 0.91, 0.8, 0.7}), 16);
  EXPECT_EQ(knee({0.95, 0.85, 0.9}), std::nullopt);
  EXPECT_EQ(knee({0.85, 0.8}), 2);
  EXPECT_EQ(knee({}), std::nullopt);
}

TEST(Scaling, ExtendsAClusterOnlyWhereItIsDescribed) {
  AdviseRequest request = request_of(0.1);
  request.job.cluster.hosts.back().slots = 2;
  Scaling scaling = scaling_of(request, "bsp");
  EXPECT_EQ(ranks_of(scaling), (std::vector<plan::Rank>{2, 4, 6}));
  EXPECT_EQ(scaling.end, "the cluster's hosts differ, so that none larger is described");
  request = request_of(0.1);
  request.job.ranks = 4;
  request.job.cluster.hosts.resize(1);
  EXPECT_EQ(scaling_of(request, "bsp").worlds.back().ranks, 32);
  std::erase_if(request.job.cluster.links, [](const cluster::ClusterLink& it) {
    return it.scope == cluster::LinkScope::kHosts;
  });
  scaling = scaling_of(request, "bsp");
  EXPECT_EQ(scaling.worlds.back().ranks, 4);
  EXPECT_EQ(scaling.end, "nothing describes a network between hosts");
  // Parameter servers beside more ranks.
  EXPECT_EQ(scaling_of(request_of(0.1), "wfbp+ps").worlds.back().ranks, 16);
}

TEST(Scaling, IsAShareOfTheSmallestMeasuredWorld) {
  AdviseRequest request = request_of(0);
  request.error.reset();
  MeasuredFigure figure{.words = "4 ranks", .ranks = 4, .batch_size = 64, .strategy = "bsp"};
  figure.step_s = 1.3 * step_s(job_of(4));
  request.fit = std::make_shared<MeasuredFit>(request.job, std::vector{figure});
  request.job = request.fit->priced(request.job);
  const Scaling scaling = scaling_of(request, "bsp");
  EXPECT_TRUE(scaling.base.measured);
  EXPECT_EQ(scaling.base.ranks, 4);
  EXPECT_EQ(ranks_of(scaling), (std::vector<plan::Rank>{8, 16, 32, 64}));
  for (const ScaledWorld& world : scaling.worlds) {
    const PredictRequest job = job_of(world.ranks, "bsp", 16);
    EXPECT_NEAR(world.efficiency, *figure.step_s / step_s(request.fit->priced(job)), 1e-6);
    const stats::Interval step = request.fit->interval_of(job);
    EXPECT_NEAR(world.low, *figure.step_s / step.high, 1e-6) << world.ranks;
    EXPECT_NEAR(world.high, *figure.step_s / step.low, 1e-6) << world.ranks;
  }
}

}  // namespace
}  // namespace paceline::predict::scaling_test
