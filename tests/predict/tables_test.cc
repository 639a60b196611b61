// SPDX-License-Identifier: Apache-2.0
#include "paceline/predict/tables.h"

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "paceline/cluster/cluster.h"
#include "paceline/predict/placements.h"
#include "paceline/predict/predict.h"

namespace paceline::predict {
namespace {

constexpr plan::Picoseconds kMicrosecond = 1'000'000;

/// A job on hosts of one slot each.
PredictRequest job_apart(const records::Configuration& tables, const std::string& rate,
                         int latency_us) {
  PredictRequest request{.network = {},
                         .cluster = cluster::parse_cluster(
                             fmt::format("name = \"apart\"\n[[hosts]]\nname = \"n\"\ncount = 16\n"
                                         "slots = 1\n[[links]]\njoins = \"hosts\"\nrate = "
                                         "\"{}\"\nlatency = \"{}us\"\n",
                                         rate, latency_us),
                             "apart.toml"),
                         .strategy = tables.strategy,
                         .samples_per_s = 3000,
                         .engine = "gloo"};
  set_tables(tables, request);
  return request;
}

records::Configuration hybrid_case(const std::string& strategy, int servers) {
  records::Configuration c;
  c.model = "hybrid";
  c.strategy = strategy;
  c.servers = servers;
  return c;
}

// A question and its answer take two latencies, which one server's hide behind another's where all
// are asked at once.
TEST(PredictTables, ServersAskedInTurnTakeARoundTripEach) {
  for (const int servers : {2, 3, 4}) {
    for (const int latency_us : {50, 1000}) {
      records::Configuration c = hybrid_case("ddp", servers);
      const plan::Picoseconds parallel = predict(job_apart(c, "10Gbit", latency_us)).times.step;
      c.as_original = true;
      const plan::Picoseconds sequential = predict(job_apart(c, "10Gbit", latency_us)).times.step;
      EXPECT_GE(sequential - parallel, (servers - 1) * 2 * latency_us * kMicrosecond)
          << servers << " servers, " << latency_us << " us";
    }
  }
}

// Rows of the next step are asked for while fusion still reduces; the backward pass of ddp ends
// with the Reducer's sums.
TEST(PredictTables, LooksUpBehindTheReducer) {
  constexpr int kLatency = 50;  // us
  const auto step = [](const std::string& strategy) {
    return predict(job_apart(hybrid_case(strategy, 2), "10Gbit", kLatency)).times.step;
  };
  EXPECT_GE(step("ddp") - step("fusion"), 2 * kLatency * kMicrosecond);
}

double share_of_first(const records::Configuration& tables) {
  return rank_placements(job_apart(tables, "1Gbit", 50)).front().share;
}

// 4096 rows of 64 numbers cross for each table, 1 MB; the dense part has 1.4 MB of gradients.
TEST(Placements, WideTablesHaveALargeShareOfTheStep) {
  records::Configuration c = hybrid_case("ddp", 3);
  c.model = "dlrm";
  c.embeddings = 1'000'000;
  c.batch_size = 4096;
  PredictRequest job = job_apart(c, "100Mbit", 50);
  job.samples_per_s = 1e6;
  const auto ranked = rank_placements(job);
  for (const PlacedTables& placed : ranked) {
    EXPECT_GT(placed.share, 0.5) << placed.ranks;
    EXPECT_LT(placed.share, 1) << placed.ranks;
  }
  EXPECT_GT(share_of_first(hybrid_case("ddp", 2)), 0);
}

// The bags are a part of the step that --device-rate says, and the trainers alone go without;
// behind sums that take longer they take nothing.
TEST(Placements, ShareIsBesideTheSameDenseLayers) {
  records::Configuration c = hybrid_case("fusion", 2);
  EXPECT_EQ(rank_placements(job_apart(c, "10Gbit", 0)).front().share, 0);
  c.trainers = 1;  // no sums
  const auto placed = rank_placements(job_apart(c, "10Gbit", 0));
  EXPECT_GT(placed.front().share, 0.05);
  EXPECT_LT(placed.front().share, 0.2);
}

TEST(Placements, AreRankedWhereTheyAreToldApart) {
  records::Configuration c = hybrid_case("ddp", 4);
  c.trainers = 4;
  c.embedding_dim = 4096;
  const auto ranked = rank_placements(job_apart(c, "1Gbit", 50));
  ASSERT_EQ(ranked.size(), 8U);
  const plan::Picoseconds fastest = std::ranges::min(ranked, {}, &PlacedTables::step).step;
  for (const PlacedTables& placed : ranked) {
    EXPECT_EQ(placed.like_best,
              static_cast<double>(placed.step) <=
                  static_cast<double>(fastest) * (1 + placements_distinguishable_by()));
  }
  const auto unlike = std::ranges::find(ranked, false, &PlacedTables::like_best);
  EXPECT_NE(unlike, ranked.begin());
  EXPECT_NE(unlike, ranked.end());
  EXPECT_TRUE(std::ranges::is_sorted(ranked.begin(), unlike, {}, [](const PlacedTables& it) {
    return std::tuple(it.ranks, it.server_bytes);
  }));
  EXPECT_TRUE(std::ranges::is_sorted(unlike, ranked.end(), {}, &PlacedTables::step));
}

}  // namespace
}  // namespace paceline::predict
