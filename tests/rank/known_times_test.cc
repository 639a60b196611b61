// SPDX-License-Identifier: Apache-2.0
#include "paceline/rank/known_times.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "launch/memory_store.h"

namespace paceline::rank {
namespace {

PlanTimes measured() {
  return {
      .profile = plan::LayerProfile{.origin = "rank 0", .forward = {1, 2}, .backward = {3, 4, 5}},
      .alpha_beta = plan::AlphaBeta{
          .origin = "gloo",
          .world = 2,
          .all_reduce = {{{.from_bytes = 0, .alpha = 17, .beta_ps_per_byte = 1.0 / 3},
                          {.from_bytes = 4096, .alpha = 99, .beta_ps_per_byte = 0.1}}},
          .message = plan::alpha_beta_time_of(1e-6, 0.7e-9)}};
}

// Four ranks on two hosts; the test is rank 0 of them.
class KnownTimesTest : public ::testing::Test {
 protected:
  KnownTimesTest() {
    world_.store = std::make_shared<paceline::testing::MemoryStore>();
    world_.self.world = 4;
    world_.hosts = {"a", "a", "b", "b"};
    case_.strategy = "mg-wfbp";
    case_.ranks = 2;
  }

  PlanTimes agree(KnownTimes& times, const cases::Case& c) {
    launch::PrefixStore store(world_.store, world_.self.rank, std::to_string(++cases_));
    return times.share(c, store);
  }

  engines::World world_;
  cases::Case case_;

 private:
  int cases_ = 0;
};

TEST_F(KnownTimesTest, TextIsExact) {
  const auto again = nlohmann::json::parse(nlohmann::json(measured()).dump()).get<PlanTimes>();
  EXPECT_EQ(again.profile->origin, "rank 0");
  EXPECT_EQ(again.profile->forward, measured().profile->forward);
  EXPECT_EQ(again.profile->backward, measured().profile->backward);
  EXPECT_EQ(again.alpha_beta->world, 2);
  const auto& pieces = again.alpha_beta->all_reduce.pieces;
  ASSERT_EQ(pieces.size(), 2U);
  EXPECT_EQ(pieces[0].beta_ps_per_byte, 1.0 / 3);
  EXPECT_EQ(pieces[1].from_bytes, 4096);
  EXPECT_EQ(pieces[1].alpha, 99);
  EXPECT_EQ(again.alpha_beta->message.pieces.at(0).alpha, 1'000'000);
  EXPECT_FALSE(again.alpha_beta->all_gather.known());
  const auto nothing = nlohmann::json(PlanTimes()).get<PlanTimes>();
  EXPECT_FALSE(nothing.profile);
  EXPECT_FALSE(nothing.alpha_beta);
}

TEST_F(KnownTimesTest, WhatOneCaseMeasuresServesAllThatAskForTheSame) {
  KnownTimes times(world_, "");
  EXPECT_FALSE(agree(times, case_).profile);
  EXPECT_FALSE(agree(times, case_).alpha_beta);
  times.keep(case_, {}, measured());
  cases::Case other = case_;
  other.strategy = "optimal-merge";
  other.steps = 99;
  const PlanTimes found = agree(times, other);
  EXPECT_EQ(found.profile->origin, "rank 0, for an earlier case of this run");
  EXPECT_EQ(found.alpha_beta->origin, "gloo, for an earlier case of this run");
  EXPECT_EQ(found.profile->forward, measured().profile->forward);
  // A second use adds nothing to where it comes from.
  times.keep(other, found, found);
  EXPECT_EQ(agree(times, case_).alpha_beta->origin, found.alpha_beta->origin);
}

TEST_F(KnownTimesTest, AnotherWorldModelOrEngineIsMeasuredAnew) {
  KnownTimes times(world_, "");
  times.keep(case_, {}, measured());
  cases::Case other = case_;
  other.ranks = 4;
  EXPECT_FALSE(agree(times, other).profile);
  EXPECT_FALSE(agree(times, other).alpha_beta);
  other = case_;
  other.model = "vgg16";
  EXPECT_FALSE(agree(times, other).profile);
  EXPECT_FALSE(agree(times, other).alpha_beta);
  other = case_;
  other.engine = "nccl";
  EXPECT_FALSE(agree(times, other).alpha_beta);
  // Ranks compute beside collectives that are timed.
  other = case_;
  other.threads = case_.threads + 1;
  EXPECT_FALSE(agree(times, other).alpha_beta);
  // Another batch has layers of its own, but the same collectives.
  other = case_;
  other.batch_size = 1;
  EXPECT_FALSE(agree(times, other).profile);
  EXPECT_TRUE(agree(times, other).alpha_beta);
}

TEST_F(KnownTimesTest, NothingForWhoDecidesByNoTimesOrHasThem) {
  KnownTimes times(world_, "");
  times.keep(case_, {}, measured());
  cases::Case other = case_;
  other.strategy = "wfbp";
  EXPECT_FALSE(agree(times, other).profile);
  other = case_;
  other.link = "1Gbit,50us";
  EXPECT_FALSE(agree(times, other).alpha_beta);
  EXPECT_TRUE(agree(times, other).profile);
}

TEST_F(KnownTimesTest, ALaterRepetitionTakesThemFromTheNote) {
  KnownTimes(world_, "").keep(case_, {}, measured());
  KnownTimes later(world_, "");
  EXPECT_EQ(agree(later, case_).profile->backward, measured().profile->backward);
}

TEST_F(KnownTimesTest, FitsOfTheClusterFileComeFirst) {
  std::string name = std::filesystem::temp_directory_path() / "paceline-lab-XXXXXX";
  close(mkstemp(name.data()));
  std::ofstream(name) << "[[hosts]]\nname = \"a\"\ncount = 2\nslots = 2\n"
                         "[[links]]\njoins = \"hosts\"\nrate = \"1Gbit\"\n"
                         "[[links.fits]]\noperation = \"all-reduce\"\nranks = 4\nengine = "
                         "\"gloo\"\npieces = [{ alpha = \"7ps\" }]\n";
  KnownTimes times(world_, name);
  std::filesystem::remove(name);
  times.keep(case_, {}, measured());
  cases::Case four = case_;
  four.ranks = 4;
  const PlanTimes found = agree(times, four);
  ASSERT_TRUE(found.alpha_beta);
  EXPECT_EQ(found.alpha_beta->all_reduce.pieces.at(0).alpha, 7);
  EXPECT_FALSE(found.profile);
  // Two ranks are on one host, whose devices no link joins: as measured.
  EXPECT_EQ(agree(times, case_).alpha_beta->all_reduce.pieces.at(0).alpha, 17);
}

}  // namespace
}  // namespace paceline::rank
