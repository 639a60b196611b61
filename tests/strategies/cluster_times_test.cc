// SPDX-License-Identifier: Apache-2.0
#include "paceline/strategies/cluster_times.h"

#include <gtest/gtest.h>

namespace paceline::strategies {
namespace {

cluster::LinkFit fit(const std::string& operation, int ranks, Picoseconds alpha,
                     const std::string& engine = "", const std::string& device = "") {
  return {.operation = operation,
          .ranks = ranks,
          .line = {{{.from_bytes = 0, .alpha = alpha, .beta_ps_per_byte = 2}}},
          .error_percent = std::nullopt,
          .engine = engine,
          .device = device};
}

cluster::Cluster lab() {
  return {.name = "lab",
          .source = {},
          .hosts = {{.name = "a", .slots = 4, .interface = {}},
                    {.name = "b", .slots = 4, .interface = {}}},
          .links = {{.name = "net",
                     .scope = cluster::LinkScope::kHosts,
                     .bytes_per_s = 1e9,
                     .fits = {fit("all-reduce", 8, 800, "gloo", "cpu")}},
                    {.name = "memory",
                     .scope = cluster::LinkScope::kDevices,
                     .bytes_per_s = 1e10,
                     .fits = {fit("all-reduce", 2, 1), fit("all-reduce", 2, 20, "gloo", "cpu"),
                              fit("all-reduce", 2, 30, "nccl", "cuda"),
                              fit("message", 2, 40, "gloo", "cpu"),
                              fit("all-gather", 4, 50, "gloo", "cpu")}}},
          .device = {}};
}

Picoseconds alpha(const AlphaBetaTime& line) {
  return line.known() ? line.pieces.front().alpha : -1;
}

TEST(ClusterTimes, AreThoseOfTheEngineTheDeviceAndTheWorld) {
  const ClusterTimes gloo = times_of(lab(), {.engine = "gloo", .device = "cpu"}, "lab.toml");
  EXPECT_EQ(gloo.missing, "");
  EXPECT_EQ(alpha(gloo.model.all_reduce), 20);
  EXPECT_EQ(alpha(gloo.model.message), 40);
  EXPECT_FALSE(gloo.model.all_gather.known());  // among 4 alone
  EXPECT_FALSE(gloo.model.broadcast.known());
  EXPECT_EQ(gloo.model.world, 2);
  EXPECT_EQ(gloo.model.origin, "lab.toml, fits of link 'memory', gloo on cpu among 2 ranks");
  const ClusterTimes nccl = times_of(lab(), {.engine = "nccl", .device = "cuda"}, "lab.toml");
  EXPECT_EQ(alpha(nccl.model.all_reduce), 30);
  EXPECT_FALSE(nccl.model.message.known());
  const ClusterTimes far = times_of(
      lab(), {.engine = "gloo", .device = "cpu", .world = 8, .scope = cluster::LinkScope::kHosts},
      "lab.toml");
  EXPECT_EQ(alpha(far.model.all_reduce), 800);
}

TEST(ClusterTimes, AFitThatSaysNothingHoldsWhereNoOtherDoes) {
  const ClusterTimes mixed = times_of(lab(), {.engine = "gloo", .device = "cuda"}, "lab.toml");
  EXPECT_EQ(mixed.missing, "");
  EXPECT_EQ(alpha(mixed.model.all_reduce), 1);
}

// Ranks that sit otherwise on their hosts have other times.
TEST(ClusterTimes, AreThoseOfThePlacement) {
  cluster::Cluster cluster = lab();
  cluster.links[0].fits[0].ranks_per_host = {4, 4};
  TimesRequest asked{.engine = "gloo",
                     .device = "cpu",
                     .world = 8,
                     .scope = cluster::LinkScope::kHosts,
                     .ranks_per_host = {4, 4}};
  EXPECT_EQ(times_of(cluster, asked, "lab.toml").missing, "");
  asked.ranks_per_host = {2, 2, 2, 2};
  EXPECT_EQ(times_of(cluster, asked, "lab.toml").missing,
            "link 'net' of lab.toml has fits of gloo on cpu among 8 (4+4), none of gloo on cpu "
            "among 8 (2+2+2+2) ranks");
  EXPECT_FALSE(times_of(cluster, asked, "lab.toml").model.all_reduce.known());
  // One that says nothing holds where none says the right thing.
  cluster.links[0].fits.push_back(fit("all-reduce", 8, 900, "gloo", "cpu"));
  EXPECT_EQ(alpha(times_of(cluster, asked, "lab.toml").model.all_reduce), 900);
  asked.ranks_per_host = {4, 4};
  EXPECT_EQ(alpha(times_of(cluster, asked, "lab.toml").model.all_reduce), 800);
}

TEST(ClusterTimes, SayWhyThereAreNone) {
  cluster::Cluster cluster = lab();
  const TimesRequest eight{
      .engine = "nccl", .device = "cuda", .world = 8, .scope = cluster::LinkScope::kHosts};
  EXPECT_EQ(
      times_of(cluster, eight, "lab.toml").missing,
      "link 'net' of lab.toml has fits of gloo on cpu among 8, none of nccl on cuda among 8 ranks");
  EXPECT_FALSE(times_of(cluster, eight, "lab.toml").model.all_reduce.known());
  const TimesRequest four{
      .engine = "gloo", .device = "cpu", .world = 4, .scope = cluster::LinkScope::kHosts};
  EXPECT_EQ(
      times_of(cluster, four, "lab.toml").missing,
      "link 'net' of lab.toml has fits of gloo on cpu among 8, none of gloo on cpu among 4 ranks");
  cluster.links[0].fits.clear();
  EXPECT_EQ(times_of(cluster, eight, "lab.toml").missing,
            "link 'net' of lab.toml has no fits (paceline comm --cluster lab.toml --fit FILE "
            "measures them for its key 'collectives')");
  cluster.links.erase(cluster.links.begin());
  EXPECT_EQ(times_of(cluster, eight, "lab.toml").missing, "lab.toml has no link that joins hosts");
}

TEST(ClusterTimes, MissingIsWhatTheStrategyDecidesBy) {
  const auto missing = [](const char* strategy) {
    return times_for(parse_strategy(strategy), lab(), {.engine = "gloo", .device = "cpu"},
                     "lab.toml")
        .missing;
  };
  EXPECT_EQ(missing("mg-wfbp"), "");
  EXPECT_EQ(missing("optimal-merge+ps"), "");
  EXPECT_EQ(missing("wfbp+rs-ag"), "");  // decides by no times
  EXPECT_EQ(missing("bytescheduler:order=priority+rs-ag"), "");
  EXPECT_EQ(missing("mg-wfbp+rs-ag"),
            "lab.toml, fits of link 'memory', gloo on cpu among 2 ranks: the alpha-beta model says "
            "nothing of reduce-scatter, by whose times the strategy decides");
}

}  // namespace
}  // namespace paceline::strategies
