// SPDX-License-Identifier: Apache-2.0
#include "paceline/predict/engines.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "paceline/predict/predict.h"
#include "predict/two_nodes.h"

namespace paceline::predict {
namespace {

/// The most collectives that the network carries at once.
std::int64_t most_side_by_side(const std::string& engine) {
  PredictRequest it = request("wfbp", 8);
  it.engine = engine;
  const Prediction prediction = predict(it);
  simulator::Simulator simulator(*prediction.job);
  simulator.run(prediction.costs);
  std::vector<std::pair<plan::Picoseconds, int>> events;  // ends before starts
  for (const simulator::Ran& transfer : simulator.transfers()) {
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
  EXPECT_EQ(most_side_by_side("ideal"), 1);
  EXPECT_EQ(most_side_by_side("link"), 2);
  EXPECT_GT(most_side_by_side("gloo"), 2);
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
  EXPECT_EQ(copied("byteps"),
            it.cluster.hosts.front().slots * network.bytes_per_s);
  network.latency_ps = 2'000'000;
  EXPECT_EQ(copied("byteps"), 0);
}

}  // namespace
}  // namespace paceline::predict
