// SPDX-License-Identifier: Apache-2.0
#include "paceline/predict/calibrated_cluster.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "paceline/base/error.h"
#include "paceline/predict/collective_time.h"
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
  return collective_s({.pattern = plan::Pattern::kAllReduce,
                       .bytes = bytes,
                       .group = {.ranks = ranks,
                                 .hosts = (ranks + 7) / 8,
                                 .ranks_on_fullest_host = std::min(ranks, 8)}},
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

/// Hosts whose network is not described.
ClusterFacts facts_without_network() {
  ClusterFacts one = facts();
  std::erase_if(one.base->links,
                [](const auto& link) { return link.scope == cluster::LinkScope::kHosts; });
  return one;
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

/// Two devices that are joined by this many NVLinks.
ClusterFacts two_devices(int nvlinks) {
  return {.devices_per_host = 2,
          .nvlinks = nvlinks,
          .most_nvlinks = nvlinks,
          .nvlinks_of_a_device = nvlinks,
          .network_cards = 2,
          .has_topology = true};
}

TEST(CalibratedCluster, RejectsWhatSaysNothing) {
  std::vector<CommRecord> records = measured(8);
  for (CommRecord& record : records) {
    record.ranks_per_host.clear();
  }
  EXPECT_THROW(calibrated_cluster(records, {}, "a test"), UsageError);
  for (CommRecord& record : records) {
    record.ranks = 2;
  }
  EXPECT_EQ(calibrated_cluster(records, two_devices(18), "a test").cluster.links[0].name, "nvlink");
  EXPECT_THROW(calibrated_cluster({}, facts(), "a test"), UsageError);
  for (CommRecord& record : records) {
    record.wrong_elements = 1;
  }
  EXPECT_THROW(calibrated_cluster(records, facts(), "a test"), UsageError);
}

/// The message of the error with which the files are rejected; empty if they are not.
std::string rejection(const std::vector<CommRecord>& records, int nvlinks) {
  ClusterFacts facts = two_devices(nvlinks);
  facts.base = cluster::Cluster{};
  facts.base->device.name = "NVIDIA B200";
  try {
    calibrated_cluster(records, facts, "a test");
    return "";
  } catch (const UsageError& error) {
    return error.what();
  }
}

TEST(CalibratedCluster, RejectsATopologyOfOtherDevices) {
  std::vector<CommRecord> records = measured(8);
  for (CommRecord& record : records) {
    record.ranks = 2;
    record.ranks_per_host = {2};
  }
  EXPECT_EQ(rejection(records, 18), "");
  EXPECT_EQ(rejection(records, 20),
            "nvidia-smi topo -m has NV20 between two devices, and a 'NVIDIA B200' has 18 NVLinks: "
            "the topology is of another device");
  EXPECT_TRUE(
      rejection(records, 0)
          .starts_with("nvidia-smi topo -m has no NVLink between two of the devices, and "));
}

// One card of each device has an eighth of what a host sends.
TEST(CalibratedCluster, FitsTheRateOfACardOrOfAHost) {
  const std::vector<CommRecord> records = measured(16);
  const auto rate_of = [&](int cards) {
    ClusterFacts facts = facts_without_network();
    facts.devices_per_host = 8;
    facts.network_cards = cards;
    return calibrated_cluster(records, facts, "a test")
        .cluster.link(cluster::LinkScope::kHosts)
        ->bytes_per_s;
  };
  EXPECT_NEAR(rate_of(8) / rate_of(0), 0.125, 0.01);
}

TEST(CalibratedCluster, TakesTheRateOfTheMemoryFromTheDataSheet) {
  ClusterFacts facts = facts_without_network();
  const auto cluster = [&](const char* device) {
    facts.base->device.name = device;
    return calibrated_cluster(measured(16), facts, "a test");
  };
  EXPECT_EQ(cluster("NVIDIA A100-SXM4-80GB").cluster.device.memory_bytes_per_s, 2039e9);
  EXPECT_EQ(cluster("NVIDIA A100-PCIE-40GB").cluster.device.memory_bytes_per_s, 1555e9);
  for (const char* const unknown : {"FooBar 9000", "NVIDIA A100-SXM4-40GB MIG 1g.5gb"}) {
    const CalibratedCluster found = cluster(unknown);
    EXPECT_FALSE(found.cluster.device.memory_bytes_per_s) << unknown;
    EXPECT_TRUE(std::ranges::any_of(found.notes, [](const std::string& note) {
      return note.find("prices updates at 0") != std::string::npos;
    })) << unknown;
  }
}

}  // namespace
}  // namespace paceline::predict
