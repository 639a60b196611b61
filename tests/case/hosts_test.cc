// SPDX-License-Identifier: Apache-2.0
// How many ranks each host has, for strategies that look at hosts.
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "case/rejection_of.h"

namespace paceline::cases {
namespace {

using Hosts = std::vector<int>;

/// One, or one that has joined others.
MachineFacts machine(Hosts ranks_per_host = {}) {
  return {.cores = 32,
          .cuda_devices = 8,
          .models = {"mlp"},
          .engines = {"gloo", "nccl"},
          .ranks_per_host = std::move(ranks_per_host)};
}

RawSettings mlp(std::vector<std::pair<std::string, std::string>> flags) {
  RawSettings raw;
  raw.flags["model"] = split_flag("model", {"mlp"});
  raw.flags["device"] = split_flag("device", {"cpu"});
  for (const auto& [name, text] : flags) {
    raw.flags[name] = split_flag(name, {text});
  }
  return raw;
}

Hosts hosts_of(const RawSettings& raw, const MachineFacts& on) {
  return expand(raw, on).cases.at(0).ranks_per_host;
}

TEST(Placement, IsThatOfTheRanksThatWereStarted) {
  EXPECT_EQ(hosts_of(mlp({{"ranks", "8"}}), machine({4, 4})), (Hosts{4, 4}));
  EXPECT_EQ(hosts_of(mlp({{"ranks", "6"}}), machine({4, 4})), (Hosts{4, 2}));
  EXPECT_EQ(hosts_of(mlp({{"ranks", "4"}}), machine({4, 4})), Hosts{});
  EXPECT_EQ(hosts_of(mlp({{"ranks", "8"}}), machine({8})), Hosts{});
  EXPECT_EQ(hosts_of(mlp({{"ranks", "8"}}), machine()), Hosts{});
}

TEST(Placement, OfACaseGoesFirst) {
  const auto placed = [](const char* ranks, const char* text) {
    return mlp({{"ranks", ranks}, {"ranks_per_host", text}});
  };
  EXPECT_EQ(hosts_of(placed("4", "1+3"), machine({2, 2})), (Hosts{1, 3}));
  EXPECT_EQ(hosts_of(placed("4", "4"), machine({2, 2})), Hosts{4});
}

TEST(Placement, OneNumberIsThatOfEveryHost) {
  const auto all = expand(mlp({{"ranks", "1,2,8"}, {"ranks_per_host", "2"}}), machine()).cases;
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].ranks_per_host, Hosts{1});
  EXPECT_EQ(all[1].ranks_per_host, Hosts{2});
  EXPECT_EQ(all[2].ranks_per_host, (Hosts{2, 2, 2, 2}));
  EXPECT_EQ(rejection_of(mlp({{"ranks", "6"}, {"ranks_per_host", "4"}}), machine()),
            "--ranks-per-host: '4', but 6 ranks do not fill hosts of 4 each");
}

TEST(Placement, ThatAStrategyCannotHaveIsARowUnlessItWasAskedFor) {
  const auto cases =
      expand(mlp({{"ranks", "6"}, {"strategy", "hierarchical,fusion"}}), machine({4, 4})).cases;
  ASSERT_EQ(cases.size(), 2U);
  EXPECT_EQ(cases[0].not_run,
            "'hierarchical' wants hosts with equally many ranks; here are 4, "
            "2");
  EXPECT_EQ(cases[1].not_run, "");
  EXPECT_EQ(
      rejection_of(mlp({{"ranks", "6"}, {"ranks_per_host", "4+2"}, {"strategy", "hierarchical"}}),
                   machine()),
      "--strategy: 'hierarchical' wants hosts with equally many ranks; here are 4, 2");
  EXPECT_EQ(rejection_of(mlp({{"ranks", "6"}, {"strategy", "neighbor-allreduce:topology=ring"}}),
                         machine({4, 4})),
            "no error");
}

TEST(Placement, IsWhatGraphsOfHostsAndRanksAreMadeFor) {
  const RawSettings raw =
      mlp({{"ranks", "6"}, {"strategy", "neighbor-allreduce:topology=inner-outer-ring"}});
  EXPECT_EQ(rejection_of(raw, machine({3, 3})), "no error");
  EXPECT_EQ(
      rejection_of(raw, machine()),
      "--strategy: topology=inner-outer-ring wants two or more hosts of the same number of ranks, "
      "at least 3; here are 6 ranks, all on one host; with 6, 9 or more ranks give --local-size 3");
}

TEST(Late, AveragesAreRejectedOnAGpu) {
  RawSettings raw = mlp({{"ranks", "2"}, {"strategy", "win-put"}});
  EXPECT_EQ(rejection_of(raw, machine()), "no error");
  raw.flags["device"] = split_flag("device", {"cuda"});
  EXPECT_EQ(rejection_of(raw, machine()),
            "--strategy: 'win-put' averages what has arrived, which the host, running ahead of a "
            "GPU, cannot know; take --device cpu, or neighbor-allreduce");
}

}  // namespace
}  // namespace paceline::cases
