// SPDX-License-Identifier: Apache-2.0
#include "paceline/predict/emulate.h"

#include <array>
#include <string>

#include <gtest/gtest.h>

#include "paceline/plan/wire_bytes.h"

namespace paceline::predict {
namespace {

PredictRequest job_of(const std::string& strategy, plan::Rank ranks) {
  PredictRequest job;
  job.network = plan::network_shape("resnet50");
  job.cluster = cluster::read_cluster(std::string(PACELINE_SOURCE_DIR) +
                                      "/clusters/8x4-2080ti-10gbe.toml");
  job.strategy = strategy;
  job.ranks = ranks;
  return job;
}

Emulation emulated(const PredictRequest& job) {
  return emulate(job, predict(job));
}

TEST(Emulate, TakesTheSlowerLinkThatRanksCross) {
  const Emulation across = emulated(job_of("bsp", 8));
  EXPECT_EQ(across.link.bytes_per_s, 1.215e9);
  EXPECT_EQ(across.link.latency_ns, 27'400);
  const Emulation inside = emulated(job_of("bsp", 4));
  EXPECT_EQ(inside.link.bytes_per_s, 6.171e9);
  EXPECT_EQ(inside.link.latency_ns, 0);
}

TEST(Emulate, KeepsTheHostsOfAStrategyAndTheLayersOfTheJob) {
  const PredictRequest job = job_of("bsp+hierarchical", 8);
  const Prediction on_cluster = predict(job);
  const Emulation it = emulate(job, on_cluster);
  EXPECT_EQ(it.request.strategy, "bsp+hierarchical:local=4");
  const Prediction here = predict(it.request);
  EXPECT_EQ(here.job->input.local_world, plan::RanksPerHost{8});
  EXPECT_EQ(here.compute_only.step, on_cluster.compute_only.step);
  // Each link carries both stages inside the host and the one between.
  const auto wire = [&](plan::Pattern pattern, plan::Rank ranks) {
    std::int64_t bytes = 0;
    for (const cluster::CollectiveCall& call : here.job->collective_shapes) {
      if (call.pattern == pattern && call.group.ranks == ranks) {
        bytes += plan::wire_bytes(pattern, call.bytes, ranks);
      }
    }
    return bytes;
  };
  const std::int64_t inside = wire(plan::Pattern::kReduceScatter, 4) +
                              wire(plan::Pattern::kAllGather, 4);
  const std::int64_t between = wire(plan::Pattern::kAllReduce, 2);
  EXPECT_GT(between, 0);
  EXPECT_EQ(inside + between, here.job->wire_bytes);
}

// One all-reduce of the whole model behind the backward pass.
TEST(Emulate, StretchesAsFarAsTheEngineIsSlower) {
  const Emulation it = emulated(job_of("bsp", 8));
  const Prediction here = predict(it.request);
  ASSERT_EQ(here.job->collective_shapes.size(), 1U);
  const std::int64_t bytes = here.job->collective_shapes[0].bytes;
  const double link_s =
      14 * 27.4e-6 + static_cast<double>(plan::wire_bytes(
                         plan::Pattern::kAllReduce, bytes, 8)) /
                         1.215e9;
  const auto time = [&](double seconds) {
    return plan::picoseconds_of(seconds);
  };
  const auto stretch = [&](const std::vector<EngineTime>& measured) {
    return stretch_for(*here.job, it.link, measured);
  };
  constexpr auto kSum = plan::Pattern::kAllReduce;
  // The ratio, where that very size was measured.
  EXPECT_NEAR(stretch({{kSum, bytes, time(3 * link_s)}}), 3, 1e-6);
  // Between two sizes on the line, in whatever order they come.
  EXPECT_NEAR(stretch({{kSum, bytes * 2, time(5 * link_s)},
                       {kSum, 0, time(3 * link_s)}}),
              4,
              1e-6);
  // Beyond the largest with the bytes.
  EXPECT_NEAR(stretch({{kSum, bytes / 4, time(link_s)}}), 4, 1e-4);
  // An engine that is faster needs none.
  EXPECT_EQ(stretch({{kSum, bytes, time(link_s / 10)}}), 1);
}

TEST(Emulate, FewerRanksSaveTheirShareOfTheStart) {
  const Emulation it = emulated(job_of("bsp+hierarchical", 8));
  const Prediction here = predict(it.request);
  // Nothing but a start of 1.4 s for all eight: 0.1 s a round of all-reduce,
  // 0.2 s a round of the others, whose bytes cost nothing.
  std::vector<EngineTime> measured;
  for (const auto pattern : {plan::Pattern::kAllReduce,
                             plan::Pattern::kReduceScatter,
                             plan::Pattern::kAllGather}) {
    for (const std::int64_t bytes : {std::int64_t{8}, std::int64_t{1} << 30}) {
      measured.push_back({pattern, bytes, plan::picoseconds_of(1.4)});
    }
  }
  double largest = 0;
  for (const cluster::CollectiveCall& call : here.job->collective_shapes) {
    const int rounds = cluster::latencies_of(call.pattern, call.group.ranks);
    const double each = call.pattern == plan::Pattern::kAllReduce ? 0.1 : 0.2;
    const double link_s =
        rounds * 27.4e-6 + static_cast<double>(plan::wire_bytes(
                               call.pattern, call.bytes, call.group.ranks)) /
                               1.215e9;
    largest = std::max(largest, rounds * each / link_s);
  }
  ASSERT_GT(largest, 1);
  EXPECT_NEAR(stretch_for(*here.job, it.link, measured), largest, 1e-6);
}

}  // namespace
}  // namespace paceline::predict
