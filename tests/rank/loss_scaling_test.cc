// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <torch/types.h>

#include "paceline/rank/trainer.h"
#include "rank/run_rank_threads.h"
#include "rank/small_case.h"

namespace paceline::rank {
namespace {

using testing::gradients_after;
using testing::identical;
using testing::small_case;

// What a trainer's one-element buffer holds.
double held(const Trainer& trainer, std::string_view name) {
  return trainer.memory().scalar(name)->item<double>();
}

// A scale that is a power of two changes no bit of gradients or parameters.
TEST(LossScaling, ChangesNoBit) {
  struct Row {
    std::string strategy, optimizer = "sgd";
    int accumulate = 1;
  };
  for (const Row& row : {Row{"none"}, Row{"bsp"}, Row{"wfbp"}, Row{"fusion"}, Row{"ddp"},
                         Row{"fusion", "sgd", 2}, Row{"fusion", "adamw"}}) {
    auto c = small_case("mlp", row.strategy);
    c.learning_rate = 0.25;
    c.optimizer = row.optimizer;
    c.accumulate = row.accumulate;
    testing::run_rank_threads_well(2, [&](const RankGroup& group) {
      Trainer plain(c, group, {.integers = true});
      const auto start = plain.parameter_digest();
      const auto expected = gradients_after(plain, 2);
      RankGroup other = group;
      other.name = "scaled";
      Trainer scaled(c, other, {.integers = true, .loss_scale = 65536});
      EXPECT_TRUE(identical(gradients_after(scaled, 2), expected)) << row.strategy;
      EXPECT_NE(scaled.parameter_digest(), start);
      EXPECT_EQ(scaled.parameter_digest(), plain.parameter_digest()) << row.strategy;
      EXPECT_EQ(held(scaled, "found_inf"), 0);
      EXPECT_EQ(held(scaled, "loss_scale"), 65536);
      EXPECT_EQ(held(scaled, "growth"), 2);
    });
  }
}

TEST(LossScaling, AnOverflowOnOneRankSkipsTheStepOnAll) {
  for (const std::string strategy : {"bsp", "wfbp", "fusion", "ddp"}) {
    auto c = small_case("mlp", strategy);
    c.learning_rate = 0.25;
    c.optimizer = "adamw";
    testing::run_rank_threads_well(2, [&](const RankGroup& group) {
      const double start = group.rank == 0 ? 0x1p127 : 16;
      Trainer trainer(c, group, {.integers = true, .loss_scale = start});
      const auto digest = trainer.parameter_digest();
      trainer.step();
      trainer.drain();
      EXPECT_EQ(held(trainer, "found_inf"), 1) << strategy;
      EXPECT_EQ(held(trainer, "loss_scale"), start / 2);
      EXPECT_EQ(held(trainer, "step_count"), 0) << "a skipped step is none";
      EXPECT_EQ(trainer.parameter_digest(), digest);

      trainer.memory().scalar("loss_scale")->fill_(1024);
      trainer.memory().scalar("growth")->fill_(1999);
      trainer.step();
      trainer.drain();
      EXPECT_EQ(held(trainer, "found_inf"), 0) << strategy;
      EXPECT_EQ(held(trainer, "loss_scale"), 2048) << "2000 good steps";
      EXPECT_EQ(held(trainer, "step_count"), 1);
      EXPECT_NE(trainer.parameter_digest(), digest);
    });
  }
}

// A step uses the scale that the step before has left, though nobody waits for that one to end: a
// stale scale would overflow, and be halved, once more.
TEST(LossScaling, FollowsTheScaleStepByStep) {
  testing::run_rank_threads_well(2, [&](const RankGroup& group) {
    const auto c = small_case("mlp", "fusion");
    Trainer flowing(c, group, {.integers = true, .loss_scale = 0x1p127});
    RankGroup other = group;
    other.name = "drained";
    Trainer drained(c, other, {.integers = true, .loss_scale = 0x1p127});
    for (int i = 0; i < 60; ++i) {
      flowing.step();
      drained.step();
      drained.drain();
    }
    flowing.drain();
    EXPECT_LT(held(drained, "loss_scale"), 0x1p127) << "no overflow was seen";
    EXPECT_GT(held(drained, "growth"), 0) << "every step overflowed";
    EXPECT_EQ(held(flowing, "loss_scale"), held(drained, "loss_scale"));
    EXPECT_EQ(held(flowing, "growth"), held(drained, "growth"));
  });
}

TEST(LossScaling, IsRejectedWhereStepsAddUp) {
  const auto errors = testing::run_rank_threads(1, [](const RankGroup& group) {
    auto c = small_case("mlp", "none");
    c.as_original = true;
    Trainer trainer(c, group, {.loss_scale = 65536});
  });
  EXPECT_NE(errors[0].find("--as-original"), std::string::npos);
}

}  // namespace
}  // namespace paceline::rank
