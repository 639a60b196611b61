// SPDX-License-Identifier: Apache-2.0
#include "paceline/cluster/link_spec.h"

#include <gtest/gtest.h>

#include "paceline/base/error.h"

namespace paceline::cluster {
namespace {

TEST(LinkSpec, LatenciesAreThoseOfARing) {
  EXPECT_EQ(latency_count(plan::Pattern::kAllReduce, 4), 6);
  EXPECT_EQ(latency_count(plan::Pattern::kReduceScatter, 4), 3);
  EXPECT_EQ(latency_count(plan::Pattern::kAllGather, 4), 3);
  EXPECT_EQ(latency_count(plan::Pattern::kBroadcast, 2), 1);
  EXPECT_EQ(latency_count(plan::Pattern::kBroadcast, 4), 2);
  EXPECT_EQ(latency_count(plan::Pattern::kBroadcast, 5), 3);
  EXPECT_EQ(latency_count(plan::Pattern::kAllReduce, 1), 0);
}

TEST(LinkSpec, IsReadAndStretched) {
  const LinkSpec link = parse_link("--link", "1Gbit,50us");
  EXPECT_DOUBLE_EQ(link.bytes_per_s, 125e6);
  EXPECT_EQ(link.latency_ns, 50'000);
  EXPECT_EQ(parse_link("--link", "12.5 GB/s").latency_ns, 0);
  const LinkSpec slow = stretched(link, 4);
  EXPECT_DOUBLE_EQ(slow.bytes_per_s, 125e6 / 4);
  EXPECT_EQ(slow.latency_ns, 200'000);
  EXPECT_THROW(parse_link("--link", "fast"), UsageError);
  EXPECT_THROW(parse_link("--link", "1Gbit,soon"), UsageError);
}

TEST(LinkSpec, GlooCarriesTwoAtOnce) {
  EXPECT_EQ(concurrent_collectives_of("gloo"), 2);
  EXPECT_EQ(concurrent_collectives_of("nccl"), 1);
}

TEST(LinkSpec, GivesPlannersItsAlphaAndBeta) {
  const plan::AlphaBeta model = alpha_beta_of(parse_link("--link", "1GB/s,10us"), 4);
  EXPECT_EQ(model.world, 4);
  // 2 * 3 latencies and 2 * 3 / 4 of the bytes at a nanosecond each.
  EXPECT_EQ(model.all_reduce.time(4'000'000), 60'000'000 + 6'000'000'000);
  EXPECT_EQ(model.reduce_scatter.time(4'000'000), 30'000'000 + 3'000'000'000);
  EXPECT_EQ(model.message.time(1000), 10'000'000 + 1'000'000);
  for (const plan::AlphaBetaTime& line :
       {model.all_reduce, model.reduce_scatter, model.all_gather, model.broadcast, model.message}) {
    plan::check_alpha_beta(line, "line");
  }
}

}  // namespace
}  // namespace paceline::cluster
