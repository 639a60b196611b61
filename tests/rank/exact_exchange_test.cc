// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <torch/types.h>

#include "paceline/plan/program.h"
#include "paceline/rank/trainer.h"
#include "rank/run_rank_threads.h"
#include "rank/small_case.h"

// Gradients and parameters that trainers over Gloo end with, against those of ranks alone and of
// another plan, bit for bit.

namespace paceline::rank {
namespace {

using testing::gradients_after;
using testing::identical;
using testing::small_case;

// Sum over ranks of the gradients that each rank has alone: exact, because every gradient is a
// small integer.
std::vector<at::Tensor> exact_sum(const std::string& model, int world) {
  std::vector<at::Tensor> sum;
  for (int rank = 0; rank < world; ++rank) {
    testing::run_rank_threads_well(1, [&](const RankGroup& alone) {
      RankGroup group = alone;
      group.rank = rank;  // the data of that rank; "none" meets nobody
      group.world = world;
      Trainer trainer(small_case(model, "none"), group, {.integers = true});
      const auto own = gradients_after(trainer, 1);
      if (sum.empty()) {
        sum = own;
      } else {
        for (std::size_t p = 0; p < own.size(); ++p) {
          sum[p] = sum[p] + own[p];
        }
      }
    });
  }
  return sum;
}

// Reduce-scatter in backward, all-gather before the module's next forward, one update per bucket:
// nothing of it is an all-reduce, and the all-gathers cross the step border (Zhang et al., "DeAR",
// ICDCS 2023).
class ScatterGather final : public plan::Planner {
 public:
  plan::Setup setup(const plan::PlanInput& input) const override {
    plan::SetupBuilder builder(input, groups(input), input.world);
    builder.add_world_communicator("world");
    plan::Setup setup = std::move(builder).finish();
    for (const auto& bucket : plan::buckets_of(setup, groups(input))) {
      setup.buffers.push_back({.name = "shard" + std::to_string(setup.buffers.size()),
                               .dtype = plan::DType::kF32,
                               .elements = bucket.gradients.count / input.world});
    }
    return setup;
  }
  plan::Variant variant(const plan::PlanInput& /*input*/, plan::Step /*step*/) const override {
    return 0;
  }
  plan::CommPlan plan(const plan::PlanInput& input, const plan::Setup& setup,
                      plan::Variant /*variant*/) const override {
    plan::Program program(input, setup);
    const auto buckets = plan::buckets_of(setup, groups(input));
    const auto first = setup.buffers.size() - buckets.size();
    const auto shard = [&](std::size_t u) {
      return plan::whole(setup, static_cast<plan::BufferId>(first + u));
    };
    const plan::CommunicatorId world{};
    program.compute();
    for (std::size_t u = 0; u < buckets.size(); ++u) {
      program.reduce_scatter(buckets[u].gradients, shard(u), world);
    }
    for (std::size_t u = buckets.size(); u-- > 0;) {  // in forward order
      program.all_gather(shard(u), buckets[u].gradients, world);
      program.update(buckets[u], input.world);
    }
    return std::move(program).finish();
  }

 private:
  static plan::Groups groups(const plan::PlanInput& input) {
    plan::Groups one_each;
    for (const auto p : input.model.ready_order) {
      one_each.push_back({p});
    }
    return one_each;
  }
};

TEST(Trainer, PerformsPlansThatAreNoAllReduce) {
  for (const int world : {2, 3, 4}) {
    auto c = small_case("mlp", "bsp");
    c.learning_rate = 0.25;  // steps differ, and the last one counts
    testing::run_rank_threads_well(world, [&](const RankGroup& group) {
      Trainer expected(c, group, {.integers = true});
      RankGroup other = group;
      other.name = "scatter-gather";
      Trainer trainer(c, other, {.integers = true, .planner = std::make_shared<ScatterGather>()});
      EXPECT_EQ(trainer.parameter_digest(), expected.parameter_digest());
      const auto start = trainer.parameter_digest();
      // Exact in any order of summing: the first step has integers, and halves of them still fit a
      // float's 24 bits in the second.
      for (int i = 0; i < (world == 2 ? 2 : 1); ++i) {
        expected.step();
        trainer.step();
      }
      expected.drain();
      trainer.drain();
      EXPECT_NE(trainer.parameter_digest(), start);
      EXPECT_EQ(trainer.parameter_digest(), expected.parameter_digest()) << "world " << world;
    });
  }
}

struct Exchange {
  std::string model, strategy;

  friend void PrintTo(const Exchange& e, std::ostream* out) {
    *out << e.model << " " << e.strategy;
  }
};

class ExactExchange : public ::testing::TestWithParam<Exchange> {};

// Paceline sums and divides once, so the mean is the correctly rounded one in every world; the
// Reducer multiplies by 1/P first, exact for powers of two.
TEST_P(ExactExchange, ReturnsTheMeanBitForBit) {
  const auto& [model, strategy] = GetParam();
  for (const int world : {1, 2, 3, 4, 7}) {
    if (strategy.starts_with("ddp") && (world & (world - 1)) != 0) {
      continue;
    }
    auto expected = exact_sum(model, world);
    bool any = false;
    for (at::Tensor& gradient : expected) {
      any = any || gradient.count_nonzero().item<std::int64_t>() > 0;
      gradient = gradient / world;
    }
    ASSERT_TRUE(any) << "all gradients are zero: the test would see nothing";
    testing::run_rank_threads_well(world, [&](const RankGroup& group) {
      Trainer trainer(small_case(model, strategy), group, {.integers = true});
      EXPECT_TRUE(identical(gradients_after(trainer, 3), expected))
          << "rank " << group.rank << " of " << world;
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Strategies, ExactExchange,
                         ::testing::Values(Exchange{"mlp", "bsp"}, Exchange{"mlp", "wfbp"},
                                           Exchange{"mlp", "fusion"}, Exchange{"mlp", "ddp"},
                                           Exchange{"lenet", "fusion:bucket-mb=0.05"},
                                           Exchange{"lenet", "ddp"},
                                           Exchange{"lenet",
                                                    "ddp:views=yes,"
                                                    "static=yes"}),
                         [](const auto& row) {
                           std::string name = row.param.model + "_" + row.param.strategy;
                           std::replace_if(
                               name.begin(), name.end(), [](char c) { return !std::isalnum(c); },
                               '_');
                           return name;
                         });

}  // namespace
}  // namespace paceline::rank
