// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdint>

#include <gtest/gtest.h>

#include "paceline/cluster/nccl_tuning.h"
#include "paceline/predict/collective_time.h"
#include "predict/calibrated_hosts.h"

namespace paceline::predict {
namespace {

/// The network's all-reduces, measured among 16 and 32 ranks.
cluster::Cluster calibrated_hosts() {
  cluster::Cluster cluster = hosts_of_a100();
  cluster.links[1].calibration = cluster::LinkCalibration{.engine = "nccl",
                                                          .share = 0.8,
                                                          .error_percent = 5,
                                                          .from_bytes = 1 << 20,
                                                          .to_bytes = 1 << 28,
                                                          .ranks = {16, 32}};
  cluster.links[1].fits = {{.operation = "all-reduce",
                            .ranks = 16,
                            .line = {{{.alpha = 1, .beta_ps_per_byte = 1}}},
                            .error_percent = {},
                            .engine = "nccl"}};
  return cluster;
}

std::optional<double> error_of(const cluster::CollectiveCall& call, const cluster::Cluster& cluster,
                               const char* named = "nccl") {
  const EngineCosts& engine = engine_costs_named(named);
  cluster::Machine model = machine_for(cluster, engine);
  model.algorithm = engine.algorithm;
  return error_of_collective(call, cluster, engine, model);
}

TEST(CollectiveError, IsThatOfTheFitWithinWhatWasMeasured) {
  for (const int ranks : {16, 24, 32}) {
    for (const std::int64_t bytes : {1 << 20, 1 << 24, 1 << 28}) {
      const auto error = error_of(all_reduce(ranks, bytes), calibrated_hosts());
      ASSERT_TRUE(error);
      EXPECT_DOUBLE_EQ(*error, std::log1p(0.05));
    }
  }
}

TEST(CollectiveError, GrowsWithTheDistanceFromWhatWasMeasured) {
  double before = 0;
  for (const int ranks : {32, 64, 128, 512}) {
    const double reach = error_of(all_reduce(ranks, 1 << 24), calibrated_hosts()).value();
    EXPECT_GT(reach, before) << ranks;
    before = reach;
  }
  EXPECT_GT(error_of(all_reduce(16, 1 << 24), calibrated_hosts()).value(), 0);
  before = 0;
  for (const std::int64_t bytes : {1 << 28, 1 << 29, 1 << 30}) {
    const double reach = error_of(all_reduce(16, bytes), calibrated_hosts()).value();
    EXPECT_GT(reach, before) << bytes;
    before = reach;
  }
  EXPECT_GT(error_of(all_reduce(16, 1024), calibrated_hosts()).value(), std::log1p(0.05));
}

TEST(CollectiveError, OfADoublingIsThePublishedOneUnlessTheFitKnowsBetter) {
  const double published = cluster::nccl_model_error(true).from_2_mib;
  const auto doubled = [](const cluster::Cluster& cluster) {
    return error_of(all_reduce(64, 1 << 24), cluster).value();
  };
  cluster::Cluster cluster = calibrated_hosts();
  EXPECT_DOUBLE_EQ(doubled(cluster), std::hypot(std::log1p(0.05), published));
  cluster.links[1].calibration->doubling_percent = 8;
  EXPECT_DOUBLE_EQ(doubled(cluster), std::hypot(std::log1p(0.05), std::log1p(0.08)));
}

TEST(CollectiveError, WithoutACalibrationIsThatOfPublishedTimes) {
  cluster::CollectiveCall gather = all_reduce(16, 1 << 26);
  gather.pattern = plan::Pattern::kAllGather;
  const double published = cluster::nccl_model_error(true).from_2_mib;
  for (const auto& [call, cluster] :
       {std::pair{all_reduce(16, 1 << 26), hosts_of_a100()}, {gather, calibrated_hosts()}}) {
    const auto error = error_of(call, cluster);
    ASSERT_TRUE(error);
    EXPECT_DOUBLE_EQ(*error, published);
  }
  // Nothing was published of 32 ranks.
  EXPECT_DOUBLE_EQ(error_of(all_reduce(32, 1 << 26), hosts_of_a100()).value(),
                   published * std::sqrt(2));
}

TEST(CollectiveError, IsNotKnownOfAnEngineThatNothingWasComparedWith) {
  EXPECT_FALSE(error_of(all_reduce(16, 1 << 24), hosts_of_a100(), "gloo"));
  EXPECT_FALSE(error_of(all_reduce(16, 1 << 24), calibrated_hosts(), "gloo"));
}

}  // namespace
}  // namespace paceline::predict
