// SPDX-License-Identifier: Apache-2.0
#include "paceline/predict/engines.h"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "paceline/plan/engine_traits.h"
#include "paceline/predict/predict.h"
#include "predict/two_nodes.h"

namespace paceline::predict {
namespace {

/// The most collectives that the network carries at once.
std::int64_t most_concurrent(const std::string& engine) {
  PredictRequest it = request("wfbp", 8);
  it.engine = engine;
  const Prediction prediction = predict(it);
  simulator::Simulator simulator(*prediction.job);
  simulator.run(prediction.costs);
  std::vector<std::pair<plan::Picoseconds, int>> events;  // ends before starts
  for (const simulator::RunInterval& transfer : simulator.transfers()) {
    if (transfer.end > transfer.begin) {
      events.emplace_back(transfer.begin, 1);
      events.emplace_back(transfer.end, -1);
    }
  }
  std::ranges::sort(events);
  std::int64_t now = 0, most = 0;
  for (const auto& [time, change] : events) {
    now += change;
    most = std::max(most, now);
  }
  return most;
}

TEST(Engines, CarryAsManyCollectivesAtOnceAsTheyDo) {
  EXPECT_EQ(most_concurrent("ideal"), 1);
  EXPECT_EQ(most_concurrent("link"), 2);
  for (const plan::EngineTraits& engine : plan::kEngines) {
    EXPECT_EQ(most_concurrent(std::string(engine.name)), engine.concurrent_collectives)
        << engine.name;
  }
}

TEST(Engines, CostWhatTheirFileSays) {
  const EngineCosts& nccl = engine_costs_named("nccl");
  EXPECT_EQ(nccl.costs.issue, 28'000'000);
  EXPECT_EQ(nccl.costs.collective_per_rank, 0);
  EXPECT_EQ(nccl.algorithm, cluster::Algorithm::kNccl);
  EXPECT_TRUE(nccl.costs.kernels_on_device);
  const EngineCosts& fitted = engine_costs_named("nccl-2.4");
  EXPECT_EQ(fitted.costs.collective_per_rank, 9'447'000);
  EXPECT_EQ(fitted.costs.collective_under_compute, 190'800'000);
  EXPECT_EQ(fitted.algorithm, cluster::Algorithm::kTree);
  EXPECT_EQ(fitted.fit_engine_name(), "nccl");
  EXPECT_TRUE(fitted.costs.one_issue_order);
  EXPECT_TRUE(engine_costs_named("ideal").bound);
  const EngineCosts& byteps = engine_costs_named("byteps");
  EXPECT_EQ(byteps.device_share, 3.764 / 6.171);
  EXPECT_TRUE(byteps.tcp_copies);
  EXPECT_EQ(engine_costs_named("link").costs.concurrent_collectives, 2);
  const CostTable& costs = shipped_costs();
  EXPECT_EQ(costs.optimizer("adamw").passes, 22.0 / 8);
  EXPECT_EQ(costs.optimizer("lamb").passes, 28.0 / 8);
  EXPECT_EQ(costs.optimizer("lamb").fused_passes, 12.0 / 8);
  EXPECT_EQ(costs.optimizer("lars").fused_passes, 8.0 / 6);
  EXPECT_EQ(costs.optimizer("lion").passes, 1);
  EXPECT_EQ(costs.roofline.copy_share, 500.0 / 616);
  EXPECT_EQ(costs.roofline.product_share, 10 / 13.4);
  for (const EngineCosts& engine : costs.engines) {
    EXPECT_FALSE(engine.source.empty()) << engine.name;
  }
}

TEST(Engines, EveryOneThatRunsHasCosts) {
  for (const plan::EngineTraits& engine : plan::kEngines) {
    EXPECT_EQ(engine_costs_named(engine.name).name, engine.name);
  }
}

constexpr std::string_view kOwnCosts = R"(
[[engines]]
name = "nccl"
source = "a test"
collective_us = 1000
[[optimizers]]
name = "sgd"
[roofline]
copy_share = 0.5
)";

std::string written(std::string_view text) {
  const std::string path = testing::TempDir() + "own_costs." + std::to_string(getpid()) + ".toml";
  std::ofstream(path) << text;
  return path;
}

TEST(Engines, CostWhatAFileOfOnesOwnSays) {
  PredictRequest it = request("bsp", 8);
  it.engine = "nccl";
  it.costs = std::make_shared<const CostTable>(read_costs(written(kOwnCosts)));
  const Prediction own = predict(it);
  EXPECT_EQ(own.costs.software.collective, 1'000'000'000);
  EXPECT_EQ(own.costs.software.collective_per_rank, 0);
  EXPECT_FALSE(own.bar.validated);
  it.costs = nullptr;
  const Prediction shipped = predict(it);
  EXPECT_NE(shipped.record.configuration.cluster, own.record.configuration.cluster);
  EXPECT_EQ(shipped.costs.software.collective, 0);
}

TEST(Engines, RejectAFileThatIsNotOfCosts) {
  const auto rejection = [](const std::string& text) {
    const std::string path = written(text);
    try {
      read_costs(path);
    } catch (const UsageError& error) {
      return std::string(error.what()).substr(path.size());
    }
    return std::string("none");
  };
  const std::string costs(kOwnCosts);
  EXPECT_EQ(rejection(""),
            ": has no engines; needs [[engines]], [[optimizers]] and "
            "[roofline]");
  EXPECT_TRUE(rejection(costs + "winograd_speed = 1\n")
                  .starts_with(":10: unknown key of [roofline] 'winograd_speed'; did you mean "
                               "'winograd_speedup'? "));
  EXPECT_EQ(rejection(costs + "strided_slowdown = 'no'\n"),
            ":10: [roofline] strided_slowdown = 'no': must be a number");
  EXPECT_EQ(rejection(costs + "strided_slowdown = -1\n"),
            ":10: [roofline] strided_slowdown = -1: must be a number, 0 or "
            "more");
  EXPECT_EQ(rejection(costs + "strided_slowdown = 1e12\n"),
            ":10: [roofline] strided_slowdown = 1000000000000: must be below 1e12");
  EXPECT_TRUE(rejection("[[engines]]\nalgorithm = 'rin'\n[[optimizers]]\n[roofline]\n")
                  .starts_with(":2: [[engines]] algorithm = 'rin': unknown collective algorithm "
                               "'rin'; did you mean 'ring'? "));
  EXPECT_TRUE(rejection("[[engines\n").starts_with(":1: not TOML: "));
}

// ps-lite over TCP/IP, whose hops take tens of microseconds, and over RDMA.
TEST(Engines, CopyMessagesOverTcpAlone) {
  PredictRequest it = request("bsp", 8);
  cluster::ClusterLink& network = it.cluster.links.back();
  ASSERT_EQ(network.latency_ps, 25'000'000);
  const auto copied = [&](const char* engine) {
    it.engine = engine;
    return predict(it).costs.machine.copies_bytes_per_s;
  };
  EXPECT_EQ(copied("byteps"), network.bytes_per_s);
  EXPECT_EQ(copied("nccl"), 0);
  network.sharing = cluster::LinkSharing::kDevice;  // every slot has a card
  ASSERT_GT(it.cluster.hosts.front().slots, 1);
  EXPECT_EQ(copied("byteps"), it.cluster.hosts.front().slots * network.bytes_per_s);
  network.latency_ps = 2'000'000;
  EXPECT_EQ(copied("byteps"), 0);
}

}  // namespace
}  // namespace paceline::predict
