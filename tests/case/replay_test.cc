// SPDX-License-Identifier: Apache-2.0
// Cases of a profile instead of a network, and of an emulated link.
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

#include "paceline/base/error.h"
#include "paceline/case/experiment.h"

namespace paceline::cases {
namespace {

constexpr const char* kProfile = R"({"paceline_profile": 1, "model": "theirs",
 "batch_size": 7, "modules": [{"name": "a", "forward_us": 1}],
 "parameters": [{"name": "a.w", "sizes": [4], "module": "a",
                 "backward_us": 1}], "ready_order": ["a.w"]})";

class Replay : public ::testing::Test {
 protected:
  Replay() { std::ofstream(path_) << kProfile; }
  ~Replay() override { std::filesystem::remove(path_); }

  std::vector<Case> cases(std::vector<std::pair<std::string, std::string>> flags) const {
    RawSettings raw;
    for (const auto& [name, text] : flags) {
      raw.flags[name] = split_flag(name, {text});
    }
    return expand(raw, {.cores = 2, .models = {"resnet50"}, .engines = {"gloo"}}).cases;
  }

  std::string rejection(std::vector<std::pair<std::string, std::string>> flags) const {
    try {
      cases(std::move(flags));
    } catch (const UsageError& error) {
      return error.what();
    }
    return "accepted";
  }

  // Tests of this fixture run beside each other, each in its own process.
  std::string path_ =
      ::testing::TempDir() + "replay_test." + std::to_string(getpid()) + ".profile.json";
};

TEST_F(Replay, AGpuByNameIsRejected) {
  for (const auto& [name, word] : {std::pair{"device", "cuda"}, {"engine", "nccl"}}) {
    EXPECT_EQ(rejection({{"replay", path_}, {name, word}}),
              std::string("--") + name + ": '" + word +
                  "', but the ranks of a replay sleep on the CPU and gloo moves their bytes; leave "
                  "it out");
    EXPECT_EQ(rejection({{"replay", path_}, {name, "auto"}}), "accepted");
  }
}

TEST_F(Replay, TheProfileIsTheNetwork) {
  const auto all = cases({{"replay", path_}, {"ranks", "8"}});
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].model, "theirs");
  EXPECT_EQ(all[0].batch_size, 7);
  EXPECT_EQ(all[0].replay, path_);
  EXPECT_NE(all[0].key().find("replay="), std::string::npos);
}

TEST_F(Replay, ALinkKeepsItsCommaAndLinksSweep) {
  const auto all = cases({{"replay", path_}, {"link", "1Gbit,50us,10Gbit,100Mbit,1ms"}});
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].link, "1Gbit,50us");
  EXPECT_EQ(all[1].link, "10Gbit");
  EXPECT_EQ(all[2].link, "100Mbit,1ms");
  EXPECT_EQ(cases({{"replay", path_}, {"link", "1Gbps,10Gbps,2GB/s"}}).size(), 3U);
}

TEST_F(Replay, MicroBatchesAreTheProfilesBatch) {
  EXPECT_EQ(cases({{"replay", path_}, {"accumulate", "3"}})[0].batch_size, 21);
}

TEST_F(Replay, LinkAndStretchTellCasesApart) {
  const auto all = cases({{"replay", path_}, {"link", "1 Gbit, 50us"}, {"stretch", "1,2"}});
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].link, "1Gbit,50us");
  EXPECT_NE(all[0].key(), all[1].key());
  EXPECT_EQ(cases({{"model", "resnet50"}})[0].key().find("link="), std::string::npos);
}

TEST_F(Replay, WhatCannotBeIsRejected) {
  EXPECT_EQ(rejection({{"stretch", "4"}, {"model", "resnet50"}}),
            "--stretch: '4' slows compute and network alike, so it needs both --replay and --link");
  EXPECT_EQ(rejection({{"stretch", "4"}, {"replay", path_}}).find("--stretch"), 0U);
  EXPECT_EQ(rejection({{"link", "fast"}, {"model", "resnet50"}}).find("--link"), 0U);
  EXPECT_EQ(rejection({{"link", "1Gbit,50"}, {"model", "resnet50"}}),
            "--link = '50': must be a duration, not negative, in ps, ns, us, ms or s, like 50us");
  EXPECT_EQ(rejection({{"replay", path_}, {"strategy", "ddp"}}),
            "--strategy: 'ddp:bucket-mb=25,first-bucket-mb=25' runs PyTorch's own reducer on a "
            "network that computes, which a replay does not have");
  EXPECT_NE(rejection({{"link", "1Gbit"}, {"strategy", "python-ddp"}})
                .find("--link: '1Gbit' holds operations of Paceline's own ranks, and python-ddp"),
            std::string::npos);
  EXPECT_NE(rejection({{"replay", "/nowhere.json"}}).find("/nowhere.json"), std::string::npos);
}

}  // namespace
}  // namespace paceline::cases
