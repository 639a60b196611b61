// SPDX-License-Identifier: Apache-2.0
#include "paceline/predict/calibrated_cluster.h"

#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "paceline/base/error.h"
#include "paceline/predict/link_calibration.h"
#include "paceline/predict/request_costs.h"
#include "predict/two_nodes.h"

namespace paceline::predict {
namespace {

using records::CommRecord;

constexpr std::int64_t kSizes[] = {1 << 10, 1 << 16, 1 << 20, 1 << 24, 1 << 28};

/// Hosts of 8 with links that the calibration does not know.
cluster::Cluster truth() {
  cluster::Cluster cluster = cluster::parse_cluster(kCluster, "c.toml");
  cluster.device.name = "A100-SXM4-80GB";
  cluster.hosts.clear();
  for (int host = 0; host < 8; ++host) {
    cluster.hosts.push_back({.name = std::string(1, static_cast<char>('a' + host)),
                             .slots = 8,
                             .interface = {},
                             .memory_bytes = {}});
  }
  for (cluster::ClusterLink& link : cluster.links) {
    const bool devices = link.scope == cluster::LinkScope::kDevices;
    link.bytes_per_s = devices ? 250e9 : 20e9;
    link.latency_ps = devices ? 3'000'000 : 6'000'000;
  }
  return cluster;
}

double true_s(int ranks, std::int64_t bytes, const cluster::Cluster& cluster) {
  const EngineCosts& engine = engine_costs_named("nccl");
  return collective_s(
      {.pattern = plan::Pattern::kAllReduce,
       .bytes = bytes,
       .group = {.ranks = ranks, .hosts = (ranks + 7) / 8, .most_local = std::min(ranks, 8)}},
      machine_for(cluster, engine), engine.costs);
}

/// By the engine's model, whatever fits the cluster has.
double model_s(int ranks, std::int64_t bytes, cluster::Cluster cluster) {
  for (cluster::ClusterLink& link : cluster.links) {
    link.fits.clear();
  }
  return true_s(ranks, bytes, cluster);
}

std::vector<CommRecord> measured(int ranks) {
  std::vector<CommRecord> records;
  for (const std::int64_t bytes : kSizes) {
    CommRecord record;
    record.operation = "all-reduce";
    record.bytes = bytes;
    record.ranks = ranks;
    record.ranks_per_host.assign(static_cast<std::size_t>((ranks + 7) / 8), std::min(ranks, 8));
    record.engine = "nccl";
    record.device = "cuda";
    record.dtype = "fp32";
    record.iteration_ns = {std::llround(true_s(ranks, bytes, truth()) * 1e9)};
    records.push_back(record);
  }
  return records;
}

ClusterFacts facts() {
  ClusterFacts facts;
  facts.base = truth();
  for (cluster::ClusterLink& link : facts.base->links) {
    link.bytes_per_s *= 1.3;
    link.latency_ps /= 2;
  }
  return facts;
}

TEST(CalibratedCluster, MoreRanksFollowTheModelWithTheFittedLinks) {
  std::vector<CommRecord> records = measured(8);
  for (const CommRecord& record : measured(16)) {
    records.push_back(record);
  }
  CalibratedCluster found = calibrated_cluster(records, facts(), "a test");
  ASSERT_EQ(found.links.size(), 2u);
  for (const CalibratedLink& link : found.links) {
    EXPECT_LT(link.worst_error, 0.05) << link.name;
    ASSERT_FALSE(link.constants.empty()) << link.name;
    for (const FittedConstant& constant : link.constants) {
      EXPECT_TRUE(constant.interval.contains(constant.value)) << constant.name;
      EXPECT_LT(constant.interval.low, constant.interval.high) << constant.name;
    }
  }
  const cluster::Cluster read =
      cluster::parse_cluster(cluster::to_toml(found.cluster), "mine.toml");
  EXPECT_EQ(read.links.size(), 2u);
  for (const int ranks : {16, 64}) {
    for (const std::int64_t bytes : kSizes) {
      EXPECT_NEAR(model_s(ranks, bytes, read) / true_s(ranks, bytes, truth()), 1, 0.1)
          << ranks << " " << bytes;
    }
  }
}

// A fit of 16 ranks says what 64 take in proportion to the model alone.
TEST(CalibratedCluster, AFitOfFewRanksDoesNotPriceManyAlike) {
  const cluster::Cluster cluster = calibrated_cluster(measured(16), facts(), "a test").cluster;
  EXPECT_GT(true_s(64, 1 << 10, cluster), 1.2 * true_s(16, 1 << 10, cluster));
}

TEST(CalibratedCluster, RejectsWhatSaysNothing) {
  std::vector<CommRecord> records = measured(8);
  for (CommRecord& record : records) {
    record.ranks_per_host.clear();
  }
  EXPECT_THROW(calibrated_cluster(records, {}, "a test"), UsageError);
  ClusterFacts eight;
  add_topology(
      "\tGPU0\tGPU1\tNIC0\tCPU Affinity\n"
      "GPU0\t X \tNV18\tPIX\t0-31\n"
      "GPU1\tNV18\t X \tSYS\t0-31\n"
      "NIC0\tPIX\tSYS\t X \n",
      "topo", eight);
  EXPECT_EQ(eight.devices_of_a_host, 2);
  EXPECT_EQ(eight.nvlinks, 18);
  EXPECT_EQ(eight.network_cards, 1);
  for (CommRecord& record : records) {
    record.ranks = 2;
  }
  EXPECT_EQ(calibrated_cluster(records, eight, "a test").cluster.links[0].name, "nvlink");
  EXPECT_THROW(calibrated_cluster({}, facts(), "a test"), UsageError);
  for (CommRecord& record : records) {
    record.wrong_elements = 1;
  }
  EXPECT_THROW(calibrated_cluster(records, facts(), "a test"), UsageError);
}

TEST(ClusterFacts, AreReadFromSlurmsVariables) {
  ClusterFacts facts;
  add_slurm(
      "SLURM_JOB_NODELIST=node[01-03],gpu7\n"
      "SLURM_TASKS_PER_NODE=8(x4)\n",
      "env", facts);
  ASSERT_EQ(facts.hosts.size(), 4u);
  EXPECT_EQ(facts.hosts[3].name, "gpu7");
  EXPECT_EQ(facts.hosts[0].slots, 8);
  EXPECT_THROW(add_slurm("SLURM_NODELIST=a\nSLURM_TASKS_PER_NODE=8,4\n", "env", facts), UsageError);
  EXPECT_THROW(add_slurm("SLURM_NODELIST=a\n", "env", facts), UsageError);
  EXPECT_TRUE(is_slurm("HOME=/root\nSLURM_NODELIST=a\n"));
  EXPECT_FALSE(is_slurm("a:4\n"));
}

}  // namespace
}  // namespace paceline::predict
