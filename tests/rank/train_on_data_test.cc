// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include <gtest/gtest.h>

#include "rank/irregular_network.h"
#include "rank/run_rank_threads.h"

// Training on data, with real tensors over Gloo.

namespace paceline::rank {
namespace {

cases::Case digits(const std::string& strategy) {
  cases::Case c;
  c.model = "linear";
  c.data = "digits";
  c.image_size = 8;
  c.classes = 10;
  c.strategy = strategy;
  c.batch_size = 16;
  c.learning_rate = 0.1;
  c.weight_decay = 0;
  return c;
}

/// What rank 0 evaluates after so many steps.
records::Evaluation after(int steps, int world, const cases::Case& c) {
  records::Evaluation result;
  testing::run_rank_threads_well(world, [&](const RankGroup& group) {
    Trainer trainer(c, group);
    for (int i = 0; i < steps; ++i) {
      trainer.step();
    }
    trainer.drain();
    const records::Evaluation mine = trainer.evaluate();
    if (group.rank == 0) {
      result = mine;
    }
  });
  return result;
}

TEST(TrainOnData, LearnsDigits) {
  const auto before = after(0, 2, digits("fusion"));
  const auto trained = after(120, 2, digits("fusion"));
  EXPECT_LT(*before.accuracy, 0.4);
  EXPECT_GT(*trained.accuracy, 0.9);
  EXPECT_LT(*trained.loss, *before.loss);
}

// The same samples, whoever sums: what is evaluated is equal to the last bit.
TEST(TrainOnData, GivesEachRankItsOwnSamplesWhateverTheStrategy) {
  const auto summed = after(30, 2, digits("fusion+rs-ag"));
  const auto sharded = after(30, 2, digits("fusion+rs-ag+zero-1"));
  const auto alone = after(30, 2, digits("none"));
  EXPECT_EQ(summed, sharded);
  EXPECT_NE(summed, alone);
}

TEST(TrainOnData, AccumulatesTheSameBatch) {
  cases::Case c = digits("fusion");
  c.momentum = 0;
  const auto whole = after(20, 2, c);
  c.accumulate = 4;
  const auto parts = after(20, 2, c);
  EXPECT_NEAR(*whole.loss, *parts.loss, 1e-5);
}

TEST(TrainOnData, TakesTheRateOfEachStep) {
  cases::Case c = digits("fusion");
  c.momentum = 0;
  const auto once = after(1, 2, c);
  c.lr_decay = "0.0000001@1";
  const auto decayed = after(10, 2, c);
  EXPECT_NEAR(*once.loss, *decayed.loss, 1e-4);
  c.lr_decay = "";
  EXPECT_GT(std::fabs(*once.loss - *after(10, 2, c).loss), 0.01);
  c.lr_warmup = 1000000000;
  EXPECT_NEAR(*after(0, 2, c).loss, *after(10, 2, c).loss, 1e-4);
}

// Every batch is all that a rank has: gradient descent on a convex problem, whose ranks differ.
// Only the corrected rules and the exact mean get there.
TEST(TrainOnData, ARegressionEndsAtItsOptimum) {
  cases::Case c = digits("fusion");
  c.data = "least-squares";
  c.classes = 1;
  c.split = "dirichlet:0.1";
  c.batch_size = 256;
  c.learning_rate = 0.2;
  c.momentum = 0;
  EXPECT_LT(*after(400, 4, c).loss, 1e-5);
  EXPECT_FALSE(after(0, 4, c).accuracy.has_value());
  c.strategy = "fusion+neighbor-allreduce:topology=ring+gradient-tracking";
  EXPECT_LT(*after(400, 4, c).loss, 1e-5);
  c.strategy = "fusion+neighbor-allreduce:topology=ring+exact-diffusion";
  EXPECT_LT(*after(400, 4, c).loss, 1e-5);
  c.strategy = "fusion+neighbor-allreduce:topology=ring+atc";
  EXPECT_GT(*after(400, 4, c).loss, 1e-4);
}

TEST(TrainOnData, RejectsANetworkThatReadsOtherImages) {
  cases::Case c = digits("fusion");
  c.model = "resnet18";
  for (const std::string& error :
       testing::run_rank_threads(2, [&](const RankGroup& group) { Trainer trainer(c, group); })) {
    EXPECT_NE(error.find("its images have 1 channel"), std::string::npos) << error;
  }
}

}  // namespace
}  // namespace paceline::rank
