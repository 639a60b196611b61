// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <barrier>

#include <gtest/gtest.h>

#include "paceline/plan/optimizer.h"
#include "rank/irregular_network.h"
#include "rank/run_rank_threads.h"

// Update rules with real tensors over Gloo.

namespace paceline::rank {
namespace {

using testing::copies;
using testing::identical;
using testing::irregular_case;
using testing::irregular_options;

struct Job {
  cases::Case configuration;
  TrainerOptions options = irregular_options();
  int steps = 7;
};

Job irregular(const std::string& text, const std::string& optimizer = "sgd") {
  Job job{.configuration = irregular_case(text)};
  job.configuration.optimizer = optimizer;
  return job;
}

/// Steps in which no value or gradient is rounded in float64.
Job of_integers(const std::string& text) {
  Job job{.configuration = irregular_case(text),
          .options = {.integers = true, .dtype = at::kDouble},
          .steps = 2};
  job.configuration.model = "mlp";
  job.configuration.learning_rate = 1.0 / 64;
  job.configuration.momentum = 0.5;
  return job;
}

/// What the plans of the steps say.
testing::Booked planned(const Trainer& trainer, int rank, int steps) {
  testing::Booked all{};
  for (int step = 0; step < steps; ++step) {
    const plan::Variant variant = trainer.planner().variant(trainer.input(), step);
    const auto cost = plan::cost(
        trainer.setup(), trainer.planner().plan(trainer.input(), trainer.setup(), variant), rank);
    all.bytes += cost.wire_bytes;
    all.calls += cost.calls;
  }
  return all;
}

/// The parameters of every rank after the steps.
std::vector<std::vector<at::Tensor>> trained(int world, const Job& job) {
  std::vector<std::vector<at::Tensor>> all(static_cast<std::size_t>(world));
  testing::run_rank_threads_well(world, [&](const RankGroup& group) {
    Trainer trainer(job.configuration, group, job.options);
    EXPECT_EQ(testing::booked(trainer, job.steps), planned(trainer, group.rank, job.steps))
        << job.configuration.strategy << ", rank " << group.rank;
    all[static_cast<std::size_t>(group.rank)] = copies(trainer.network().parameters());
  });
  return all;
}

void expect_equal(int world, const Job& one, const Job& other) {
  const auto left = trained(world, one);
  const auto right = trained(world, other);
  for (std::size_t rank = 0; rank < left.size(); ++rank) {
    EXPECT_TRUE(identical(left[rank], right[rank]))
        << one.configuration.strategy << " and " << other.configuration.strategy << " of " << world
        << ", rank " << rank;
  }
}

TEST(UpdateRules, LocalSgdOfEveryStepAveragesParameters) {
  expect_equal(2, irregular("fusion+local-sgd:every=1"), irregular("fusion+all-reduce+atc"));
  expect_equal(3, irregular("dear+neighbor-allreduce:topology=ring+local-sgd:every=1"),
               irregular("dear+neighbor-allreduce:topology=ring+atc"));
}

// Those whose step of an element depends on that element alone, so that plans may cut tensors.
std::vector<std::string> elementwise_optimizers() {
  std::vector<std::string> all = plan::optimizer_names();
  std::erase_if(all, [](const std::string& name) { return plan::optimizer_named(name).layerwise; });
  return all;
}

// The same sums, cut and applied elsewhere: every schedule, and every optimizer under one of them.
TEST(UpdateRules, ZeroEqualsReduceScatterAndAllGather) {
  const auto compare = [](const std::string& schedule, const std::string& optimizer) {
    for (const char* rule : {"+zero-1", "+zero-2"}) {
      expect_equal(2, irregular(schedule + "+rs-ag" + rule, optimizer),
                   irregular(schedule + "+rs-ag", optimizer));
    }
  };
  for (const char* schedule : {"bsp", "wfbp", "dear", "bytescheduler:partition-mb=0.02"}) {
    compare(schedule, "adamw");
  }
  for (const std::string& optimizer : elementwise_optimizers()) {
    compare("fusion", optimizer);
  }
  for (const std::string rule : {"+zero-1", "+zero-2"}) {
    expect_equal(4, irregular("fusion+hierarchical:local=2" + rule),
                 irregular("fusion+hierarchical:local=2"));
  }
}

TEST(UpdateRules, ZeroEqualsAllReduceOnIntegers) {
  for (const int world : {2, 4}) {
    for (const char* text : {"fusion+rs-ag+zero-1", "fusion+rs-ag+zero-2"}) {
      expect_equal(world, of_integers(text), of_integers("fusion+all-reduce"));
    }
  }
}

TEST(UpdateRules, ZeroAccumulatesAsAllReduceOnIntegers) {
  const auto accumulating = [](const std::string& text) {
    Job job = of_integers(text);
    job.configuration.accumulate = 4;
    return job;
  };
  for (const int world : {2, 4}) {
    for (const char* text : {"fusion+rs-ag+zero-1", "fusion+rs-ag+zero-2", "wfbp+rs-ag+zero-2"}) {
      expect_equal(world, accumulating(text), accumulating("fusion+all-reduce"));
    }
  }
}

// Gradients of four micro-batches, of which each rule sees the mean alone.
TEST(UpdateRules, AccumulateAsOneWholeBatchOnIntegers) {
  for (const std::string text :
       {"fusion+neighbor-allreduce:topology=full+atc",
        "wfbp+neighbor-allreduce:topology=one-peer-exp+awc",
        "fusion+neighbor-allreduce+awc:window=backward",
        "fusion+neighbor-allreduce:topology=full+pga:every=2",
        "fusion+neighbor-allreduce:topology=full+gradient-tracking",
        "fusion+neighbor-allreduce:topology=full+exact-diffusion",
        "fusion+push-sum:topology=full+atc", "fusion+hierarchical-neighbor-allreduce:local=2+atc",
        "fusion+local-sgd:every=2", "fusion+diloco:every=2", "fusion+slowmo:every=2"}) {
    const Job whole = of_integers(text);
    Job accumulating = whole;
    accumulating.configuration.accumulate = 4;
    expect_equal(4, accumulating, whole);
  }
}

// Sums of squares are whole numbers, so their root is the same on all ranks.
TEST(UpdateRules, ZeroClipsAsAllReduceOnIntegers) {
  const auto clipped = [](const std::string& text) {
    Job job = of_integers(text);
    job.configuration.clip_norm = 0.5;
    job.steps = 1;
    return job;
  };
  for (const int world : {2, 4}) {
    const Job all_reduce = clipped("fusion+all-reduce");
    for (const char* text : {"fusion+rs-ag+zero-1", "bytescheduler:partition-mb=0.02+rs-ag+zero-1",
                             "fusion+rs-ag+zero-2", "fusion+hierarchical:local=2+zero-1"}) {
      expect_equal(world, clipped(text), all_reduce);
    }
    Job free = all_reduce;
    free.configuration.clip_norm = 0;
    EXPECT_FALSE(identical(trained(world, free)[0], trained(world, all_reduce)[0]));
    free.configuration.clip_norm = 1e6;
    Job unlimited = free;
    unlimited.configuration.clip_norm = 0;
    expect_equal(world, free, unlimited);
  }
}

TEST(UpdateRules, DilocoOfRateOneWithoutMomentumIsLocalSgdOnIntegers) {
  for (const int world : {2, 4}) {
    expect_equal(world, of_integers("fusion+diloco:every=2,outer-lr=1,outer-momentum=0"),
                 of_integers("fusion+local-sgd:every=2"));
  }
}

/// What two ranks have whose parameters the test averages after each step of their own optimizers.
std::vector<at::Tensor> averaged_by_hand(const Job& job) {
  std::barrier<> together(2);
  std::array<std::vector<at::Tensor>, 2> all;
  testing::run_rank_threads_well(2, [&](const RankGroup& group) {
    Trainer trainer(job.configuration, group, job.options);
    for (int step = 0; step < job.steps; ++step) {
      trainer.step();
      trainer.drain();
      const at::NoGradGuard no_grad;
      const auto own = trainer.network().parameters();
      all[static_cast<std::size_t>(group.rank)] = copies(own);
      together.arrive_and_wait();
      for (std::size_t p = 0; p < own.size(); ++p) {
        own[p].copy_((all[0][p] + all[1][p]) / 2);
      }
      together.arrive_and_wait();
    }
  });
  for (std::size_t p = 0; p < all[0].size(); ++p) {
    all[0][p] = (all[0][p] + all[1][p]) / 2;
  }
  return all[0];
}

TEST(UpdateRules, AtcAveragesWhatEveryOptimizerWrites) {
  for (const std::string& optimizer : plan::optimizer_names()) {
    const auto ours =
        trained(2, irregular("fusion+neighbor-allreduce:topology=full+atc", optimizer));
    EXPECT_TRUE(identical(ours[0], averaged_by_hand(irregular("none", optimizer)))) << optimizer;
  }
}

TEST(UpdateRules, RunWithEveryOptimizer) {
  for (const char* text :
       {"fusion+neighbor-allreduce+pga:every=2", "dear+rs-ag+diloco:every=3",
        "fusion+diloco:every=4,fragments=2,delay=1,mix=0.5", "fusion+slowmo:every=3",
        "wfbp+neighbor-allreduce+gradient-tracking",
        "fusion+neighbor-allreduce:topology=ring+exact-diffusion",
        "fusion+neighbor-allreduce:topology=ring+decentlam",
        "fusion+neighbor-allreduce:topology=ring+topk:density=0.1",
        "wfbp+neighbor-allreduce:topology=ring+random-k:density=0.1",
        "fusion+neighbor-allreduce:topology=ring+powersgd:rank=2",
        "bytescheduler:partition-mb=0.02+neighbor-allreduce:topology=ring+ef-sign",
        "fusion+neighbor-allreduce:topology=ring+bf16+local-sgd:every=2",
        "fusion+neighbor-allreduce:topology=ring+qsgd+awc"}) {
    for (const std::string& optimizer : plan::optimizer_names()) {
      for (const auto& rank : trained(3, irregular(text, optimizer))) {
        for (const at::Tensor& parameter : rank) {
          EXPECT_TRUE(parameter.isfinite().all().item<bool>()) << text;
        }
      }
    }
  }
}

}  // namespace
}  // namespace paceline::rank
