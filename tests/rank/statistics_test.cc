// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <gtest/gtest.h>
#include <torch/types.h>

#include "rank/irregular_network.h"
#include "rank/run_rank_threads.h"
#include "rank/small_case.h"

// Running means and variances of batch norm, averaged by the plan.

namespace paceline::rank {
namespace {

using testing::copies;
using testing::identical;

cases::Case batch_normed(const std::string& strategy, int every) {
  cases::Case c = testing::small_case("resnet18", strategy);
  c.image_size = 32;
  c.classes = 10;
  c.learning_rate = 0.01;
  c.average_buffers = every;
  return c;
}

using OfRanks = std::vector<std::vector<at::Tensor>>;

/// Of each of two ranks the floating-point buffers after each of the steps.
std::vector<OfRanks> buffers_after(const cases::Case& c, int steps) {
  std::vector<OfRanks> all(static_cast<std::size_t>(steps), OfRanks(2));
  testing::run_rank_threads_well(2, [&](const RankGroup& group) {
    Trainer trainer(c, group, {});
    for (OfRanks& after : all) {
      trainer.step();
      trainer.drain();
      for (const at::Tensor& one : trainer.network().buffers()) {
        if (one.is_floating_point()) {
          after[static_cast<std::size_t>(group.rank)].push_back(one.clone());
        }
      }
    }
  });
  return all;
}

TEST(Statistics, AreTheMeanOverRanksAfterEveryHthStep) {
  const auto alone = buffers_after(batch_normed("none", 0), 3);
  const auto together = buffers_after(batch_normed("none", 2), 3);
  ASSERT_EQ(alone[1][0].size(), 40u) << "mean and variance of 20 layers";
  EXPECT_TRUE(identical(together[0][0], alone[0][0]));
  EXPECT_TRUE(identical(together[0][1], alone[0][1]));
  EXPECT_FALSE(identical(alone[1][0], alone[1][1]));
  for (std::size_t i = 0; i < alone[1][0].size(); ++i) {
    const at::Tensor mean = (alone[1][0][i] + alone[1][1][i]) * 0.5;
    EXPECT_TRUE(at::equal(together[1][0][i], mean)) << i;
    EXPECT_TRUE(at::equal(together[1][1][i], mean)) << i;
  }
  EXPECT_FALSE(identical(together[2][0], together[2][1]));
}

TEST(Statistics, AreAveragedBesideAnyStrategy) {
  for (const char* strategy : {"dear+rs-ag", "bytescheduler",
                               "fusion+neighbor-allreduce:topology=ring+awc", "fusion+ps"}) {
    const auto after = buffers_after(batch_normed(strategy, 1), 2);
    EXPECT_TRUE(identical(after[0][0], after[0][1])) << strategy;
    EXPECT_TRUE(identical(after[1][0], after[1][1])) << strategy;
  }
}

TEST(Statistics, CrossAsThePlanSays) {
  const auto bytes_of = [](int every) {
    std::int64_t bytes = 0;
    testing::run_rank_threads_well(2, [&](const RankGroup& group) {
      Trainer trainer(batch_normed("none", every), group, {});
      const auto booked = testing::booked(trainer, 2);
      if (group.rank == 0) {
        bytes = booked.bytes;
      }
    });
    return bytes;
  };
  EXPECT_EQ(bytes_of(0), 0);
  // 4,800 channels with a mean and a variance; two ranks send them once each.
  EXPECT_EQ(bytes_of(1), 2 * 4 * 2 * 4800);
  EXPECT_EQ(bytes_of(2), 4 * 2 * 4800);
}

TEST(Statistics, OfANetworkWithoutThemAreRejected) {
  cases::Case c = testing::small_case("mlp", "none");
  c.average_buffers = 1;
  const auto errors =
      testing::run_rank_threads(1, [&](const RankGroup& group) { Trainer(c, group, {}); });
  EXPECT_EQ(errors[0],
            "average_buffers: 'mlp' keeps no statistics of its inputs; take a network with batch "
            "norm, or leave it out");
}

}  // namespace
}  // namespace paceline::rank
