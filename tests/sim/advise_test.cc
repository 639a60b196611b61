// SPDX-License-Identifier: Apache-2.0
#include "paceline/sim/advise.h"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "paceline/sim/candidates.h"
#include "paceline/sim/examined.h"

namespace paceline::sim {
namespace {

AdviseRequest request_of(Rank ranks) {
  AdviseRequest request;
  request.job.network = plan::network_shape("resnet50");
  request.job.cluster = plan::read_cluster(std::string(PACELINE_SOURCE_DIR) +
                                           "/clusters/8x4-2080ti-10gbe.toml");
  request.job.ranks = ranks;
  request.bucket_mb = {10, 25};
  request.partition_mb = {4};
  return request;
}

/// Of 8 ranks; priced once for all tests.
const AdviceTable& table() {
  static const AdviceTable of_eight = advise(request_of(8));
  return of_eight;
}

bool holds(const std::vector<std::string>& all, const std::string& text) {
  return std::ranges::any_of(all, [&](const std::string& it) {
    return it.find(text) != std::string::npos;
  });
}

TEST(Advise, ComparesWhatGivesTheSameUpdate) {
  const auto all = candidates(request_of(8), 2);
  EXPECT_TRUE(holds(all, "fusion:bucket-mb=10"));
  EXPECT_TRUE(holds(all, "bytescheduler:partition-mb=4,credit-mb=16"));
  EXPECT_TRUE(holds(all, "ddp:bucket-mb=25"));
  EXPECT_TRUE(holds(all, "+hierarchical"));
  for (const std::string& it : all) {
    EXPECT_EQ(plan::parse_strategy(it).guarantee(), plan::Guarantee::kExact)
        << it;
  }
  EXPECT_FALSE(holds(candidates(request_of(4), 1), "hierarchical"));
}

TEST(Advise, ComparesOtherUpdatesWhereTheyAreWelcome) {
  AdviseRequest request = request_of(8);
  request.any_update = true;
  const auto all = candidates(request, 2);
  for (const char* text : {"+fp16",
                           "+bf16",
                           "topology=ring",
                           "topology=exp",
                           "topology=one-peer-exp",
                           "topology=inner-outer-exp",
                           "+hierarchical-neighbor-allreduce",
                           "+awc"}) {
    EXPECT_TRUE(holds(all, text)) << text;
  }
  const AdviceTable table = advise(request);
  for (const Advice& row : table.rows) {
    const std::string& strategy = row.configuration.strategy;
    const bool neighbors = strategy.find("neighbor") != std::string::npos;
    EXPECT_EQ(caution(row.guarantee).find("convergence") != std::string::npos,
              neighbors)
        << strategy;
  }
  ASSERT_NE(table.winner(), nullptr);
  EXPECT_TRUE(table.winner()->runs);
}

TEST(Advise, PricesServersWhichTheRuntimeDoesNotPerform) {
  std::size_t servers = 0;
  for (const Advice& row : table().rows) {
    const plan::StrategySpec spec =
        plan::parse_strategy(row.configuration.strategy);
    const bool serves =
        spec.whole.row == nullptr && spec.exchange.row->name == "ps";
    EXPECT_EQ(row.runs, !serves) << row.configuration.strategy;
    if (serves) {
      ++servers;
      EXPECT_EQ(family_of(spec)->family, "servers");
      EXPECT_TRUE(row.examined);
    }
  }
  EXPECT_EQ(servers, 6U);  // three schedules, with and without a sum on hosts
  ASSERT_NE(table().winner(), nullptr);
  EXPECT_TRUE(table().winner()->runs);
  EXPECT_FALSE(holds(candidates(request_of(1), 1), "ps"));
  EXPECT_FALSE(holds(candidates(request_of(33), 9), "ps"));
}

TEST(Advise, ErrorsAreThoseOfTheFamily) {
  const auto error = [](const char* strategy) {
    return earned_error(plan::parse_strategy(strategy));
  };
  EXPECT_EQ(error("bsp"), error("fusion"));
  EXPECT_GT(error("bytescheduler"), error("bsp"));
  EXPECT_EQ(family_of(plan::parse_strategy("ddp"))->family, "reducer");
  EXPECT_EQ(family_of(plan::parse_strategy("wfbp+ps"))->family, "servers");
  EXPECT_EQ(
      family_of(plan::parse_strategy("fusion+neighbor-allreduce"))->family,
      "neighbors");
  EXPECT_EQ(family_of(plan::parse_strategy("fusion+fp16")), nullptr);
  double largest = 0;
  for (const Examined& row : examined()) {
    largest = std::max(largest, row.error_percent);
  }
  EXPECT_EQ(error("fusion+hierarchical"), largest / 100);
  for (const Advice& row : table().rows) {
    EXPECT_EQ(row.error, error(row.configuration.strategy.c_str()));
  }
}

TEST(Advise, SaysWhichBucketSizeToUse) {
  const auto fusion =
      std::ranges::find(table().buckets, "fusion", &BucketAdvice::strategy);
  ASSERT_NE(fusion, table().buckets.end());
  const auto first = std::ranges::find_if(table().rows, [](const Advice& row) {
    const std::string& strategy = row.configuration.strategy;
    return strategy.starts_with("fusion:") &&
           strategy.find('+') == std::string::npos;
  });
  EXPECT_NE(
      first->configuration.strategy.find(
          "bucket-mb=" + std::to_string(static_cast<int>(fusion->best_mb))),
      std::string::npos);
  EXPECT_GE(fusion->worst_ratio, 1);
  EXPECT_FALSE(fusion->like.empty());
}

}  // namespace
}  // namespace paceline::sim
