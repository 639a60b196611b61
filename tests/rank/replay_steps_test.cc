// SPDX-License-Identifier: Apache-2.0
// Whole steps of a network that is not there, by every schedule.
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <torch/types.h>
#include <unistd.h>

#include "paceline/plan/cost.h"
#include "paceline/plan/program.h"
#include "rank/run_rank_threads.h"

namespace paceline::rank {
namespace {

using paceline::testing::run_rank_threads_well;

constexpr int kReplayed = 4;

constexpr const char* kThreeModules = R"({"paceline_profile": 1,
 "model": "nobody built this", "batch_size": 2, "update_us": 50,
 "modules": [{"name": "a", "forward_us": 300}, {"name": "b", "forward_us": 200},
             {"name": "c", "forward_us": 100}],
 "parameters": [
  {"name": "a.w", "sizes": [30, 20], "module": "a", "backward_us": 400},
  {"name": "a.b", "sizes": [30], "module": "a", "backward_us": 10},
  {"name": "b.w", "sizes": [700], "module": "b", "backward_us": 300},
  {"name": "c.w", "sizes": [9, 3, 3], "module": "c", "backward_us": 200}],
 "ready_order": ["c.w", "b.w", "a.b", "a.w"]})";

constexpr std::int64_t kComputeNs = 1'510'000;  // of a step, without updates

class ReplayMemory : public ::testing::Test {
 protected:
  ReplayMemory()
      : path_(::testing::TempDir() + "replay_steps_" + std::to_string(::getpid()) + ".json") {
    std::ofstream(path_) << kThreeModules;
  }
  ~ReplayMemory() override { std::filesystem::remove(path_); }

  cases::Case configuration(const std::string& strategy) const {
    cases::Case c;
    c.model = "nobody built this";
    c.replay = path_;
    c.batch_size = 2;
    c.strategy = strategy;
    c.bucket_mb = 0.002;
    c.link = "1Gbit,10us";  // plans are made by its times
    c.learning_rate = 1;
    return c;
  }

  std::string path_;
};

class ReplaySteps : public ReplayMemory, public ::testing::WithParamInterface<std::string> {};

INSTANTIATE_TEST_SUITE_P(, ReplaySteps,
                         ::testing::Values("bsp", "wfbp", "fusion", "mg-wfbp", "optimal-merge",
                                           "bytescheduler:partition-mb=0.001", "dear", "none"));

TEST_P(ReplaySteps, MoveTheBytesOfThePlanAndTrainNothing) {
  run_rank_threads_well(3, [&](const RankGroup& group) {
    Trainer trainer(configuration(GetParam()), group);
    {
      const at::NoGradGuard no_grad;  // an update by these would be seen
      for (std::size_t p = 0; p < 4; ++p) {
        trainer.memory().gradient(static_cast<plan::ParameterId>(p)).fill_(1);
      }
    }
    const engines::Ledger before = trainer.ledger();
    const std::int64_t began = trainer.step().began_ns;
    std::int64_t ended = 0;
    for (int step = 1; step < kReplayed; ++step) {
      ended = trainer.step().ended_ns;
    }
    trainer.drain();
    std::int64_t planned = 0;
    for (plan::Step step = 0; step < kReplayed; ++step) {
      planned +=
          plan::cost(trainer.setup(), trainer.executor().plan_of(step), group.rank).wire_bytes;
    }
    EXPECT_EQ(trainer.ledger().total_bytes() - before.total_bytes(), planned);
    if (GetParam() != "none") {
      EXPECT_GT(planned, 0);
    }
    EXPECT_GE(ended - began, kReplayed * kComputeNs);
    for (const at::Tensor& parameter : trainer.memory().parameters()) {
      EXPECT_FALSE(parameter.any().item<bool>());
    }
  });
}

// How many pages of the buffer are in memory.
std::int64_t resident_pages(const at::Tensor& buffer) {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<std::uintptr_t>(buffer.data_ptr()) / page * page;
  const auto end = reinterpret_cast<std::uintptr_t>(buffer.data_ptr()) + buffer.nbytes();
  std::vector<unsigned char> held((end - begin + page - 1) / page);
  EXPECT_EQ(mincore(reinterpret_cast<void*>(begin), end - begin, held.data()), 0);
  return std::ranges::count_if(held, [](unsigned char h) { return h & 1U; });
}

TEST_F(ReplayMemory, HoldsWhatCrossesAndNoParameters) {
  run_rank_threads_well(2, [&](const RankGroup& group) {
    Trainer trainer(configuration("bsp"), group);
    const auto pages = [&](std::string_view buffer) {
      return resident_pages(trainer.memory().view(
          plan::whole(trainer.setup(), plan::buffer_named(trainer.setup(), buffer))));
    };
    EXPECT_EQ(pages(plan::kGradients), 0);
    trainer.step();
    trainer.drain();
    EXPECT_GT(pages(plan::kGradients), 0);
    EXPECT_EQ(pages(plan::kValues), 0);
  });
}

TEST_F(ReplayMemory, GradientsAreNumbersThatACodecMayMeet) {
  run_rank_threads_well(2, [&](const RankGroup& group) {
    Trainer trainer(configuration("bsp+sign"), group);
    trainer.step();
    trainer.drain();
    const at::Tensor gradient = trainer.memory().gradient(plan::ParameterId{0});
    const auto positive = gradient.gt(0).sum().item<std::int64_t>();
    EXPECT_GT(positive, 0);
    EXPECT_LT(positive, gradient.numel());
  });
}

TEST_P(ReplaySteps, AreAsLongWithMicroBatches) {
  run_rank_threads_well(2, [&](const RankGroup& group) {
    cases::Case c = configuration(GetParam());
    c.accumulate = 3;
    c.batch_size = 6;
    Trainer trainer(c, group);
    const StepTimes times = trainer.step();
    EXPECT_GE(times.ended_ns - times.began_ns, 3 * kComputeNs);
    trainer.drain();
  });
}

}  // namespace
}  // namespace paceline::rank
