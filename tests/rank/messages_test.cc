// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <future>

#include <gtest/gtest.h>
#include <torch/types.h>

#include "paceline/plan/access.h"
#include "paceline/plan/cost.h"
#include "paceline/rank/wire.h"
#include "rank/irregular_network.h"
#include "rank/run_rank_threads.h"

// Plans with messages, with real tensors: servers apart from their workers, and averages with
// neighbors.

namespace paceline::rank {
namespace {

using testing::copies;
using testing::distance;
using testing::irregular_case;
using testing::irregular_options;

class ServersApart : public ::testing::TestWithParam<std::string> {};

TEST_P(ServersApart, TrainLikeOneProcessOnTheWorkersBatches) {
  for (const int workers : {1, 2, 3}) {
    const auto reference = testing::whole_batch(workers);
    testing::run_rank_threads_well(workers + 1, [&](const RankGroup& group) {
      Trainer trainer(irregular_case(GetParam()), group, irregular_options());
      EXPECT_EQ(trainer.trains(), group.rank < workers);
      for (int step = 0; step < testing::kSteps; ++step) {
        trainer.step();
      }
      trainer.drain();
      if (trainer.trains()) {
        EXPECT_LE(distance(reference, copies(trainer.network().parameters())), 1e-10)
            << "rank " << group.rank << " of " << workers << " workers";
      }
    });
  }
}

TEST_P(ServersApart, SendWhatTheirPlansSay) {
  testing::run_rank_threads_well(3, [&](const RankGroup& group) {
    Trainer trainer(irregular_case(GetParam()), group, irregular_options());
    EXPECT_EQ(testing::booked(trainer, 3), testing::planned(trainer, group.rank, 3))
        << "rank " << group.rank;
  });
}

INSTANTIATE_TEST_SUITE_P(
    All, ServersApart,
    ::testing::Values(
        "bsp+ps:placement=apart,servers=1", "wfbp+ps:placement=apart,servers=1,assign=hash",
        "fusion+ps:placement=apart,servers=1,partition-mb=0.002",
        "dear+ps:placement=apart,servers=1",
        "bytescheduler:partition-mb=0.02,credit-mb=0.04+ps:placement=apart,servers=1"),
    [](const auto& test) { return test.param.substr(0, test.param.find_first_of("+:")); });

TEST(ServersApart, HoldNothingThatTheyDoNotServe) {
  testing::run_rank_threads_well(3, [](const RankGroup& group) {
    const Trainer trainer(irregular_case("fusion+ps:placement=apart,servers=2"), group,
                          irregular_options());
    if (trainer.trains()) {
      return;
    }
    const plan::Setup& setup = trainer.setup();
    const auto held = plan::touched_ranges(trainer.planner(), trainer.input(), setup);
    for (std::size_t b = 0; b < setup.buffers.size(); ++b) {
      plan::Elements elements = 0;
      for (const plan::Slice& range : held[b]) {
        elements += range.count;
      }
      const std::string& name = setup.buffers[b].name;
      if (name == "gradients") {
        EXPECT_GT(elements, 0);
        EXPECT_LT(elements, setup.buffers[b].elements);
      } else {
        EXPECT_EQ(elements, name == "inbox" ? setup.buffers[b].elements : 0) << name;
      }
    }
  });
}

// One partition, which the first of two servers has.
TEST(ServersApart, AServerWithoutPartitionsKnowsThatOthersCommunicate) {
  testing::run_rank_threads_well(3, [](const RankGroup& group) {
    Trainer trainer(irregular_case("bsp+ps:placement=apart,servers=2"), group, irregular_options());
    trainer.step();
    trainer.drain();
    EXPECT_EQ(plan::communicates(trainer.executor().plan_of(0)), group.rank < 2);
    EXPECT_TRUE(communicates(trainer.planner(), trainer.input(), 1));
  });
}

TEST(Messages, OfRanksWithOtherPlansAreRejected) {
  const auto errors = testing::run_rank_threads(2, [](const RankGroup& group) {
    const Trainer trainer(irregular_case(group.rank == 0 ? "fusion+ps:partition-mb=0.002"
                                                         : "fusion+ps:partition-mb=0.004"),
                          group, irregular_options());
  });
  for (const std::string& error : errors) {
    EXPECT_EQ(error,
              "rank 1's plan differs from rank 0's on communicator push: every rank must be given "
              "the same strategy, model and sizes.");
  }
}

// A schedule that crosses the step border sends the end of its warm-up within the window, and a
// rule exchanges every third step: what belongs to the measured steps is counted, and nothing else.
TEST(WireBytes, AreOfTheMeasuredStepsAlone) {
  constexpr int kWarmup = 2, kMeasured = 4;
  for (const char* text :
       {"dear", "bytescheduler:partition-mb=0.02,credit-mb=0.04", "fusion+ps:partition-mb=0.004",
        "fusion+all-reduce+local-sgd:every=3", "dear+neighbor-allreduce:topology=ring+pga:every=5",
        "fusion+diloco:every=3,delay=1"}) {
    for (const int warmup : {kWarmup, kWarmup + 1}) {
      testing::run_rank_threads_well(2, [&](const RankGroup& group) {
        auto c = irregular_case(text);
        c.warmup = warmup;
        c.steps = kMeasured;
        Trainer trainer(c, group, irregular_options());
        for (int step = 0; step < warmup + kMeasured; ++step) {
          trainer.step();
        }
        trainer.drain();
        std::int64_t planned = 0;
        for (int step = warmup; step < warmup + kMeasured; ++step) {
          planned +=
              plan::cost(trainer.setup(), trainer.executor().plan_of(step), group.rank).wire_bytes;
        }
        EXPECT_EQ(trainer.counted().total_bytes(), planned) << text << " after " << warmup;
      });
    }
  }
}

// Two ranks: each takes the mean of both updated parameters, whose halves are exact in binary.
TEST(Neighbors, TakeTheMeanOfTwoUpdatedNetworks) {
  for (const char* text :
       {"bsp+neighbor-allreduce+atc", "wfbp+neighbor-allreduce:topology=ring+atc",
        "fusion+neighbor-allreduce:topology=exp+atc", "dear+neighbor-allreduce+atc",
        "fusion+hierarchical-neighbor-allreduce:local=1+atc", "fusion+parameter-allreduce+atc",
        "wfbp+push-sum+atc"}) {
    std::vector<std::vector<at::Tensor>> alone(2);
    for (std::size_t rank = 0; rank < 2; ++rank) {
      testing::run_rank_threads_well(1, [&](const RankGroup& only) {
        RankGroup group = only;
        group.rank = static_cast<int>(rank);
        group.world = 2;
        Trainer trainer(irregular_case("none"), group, irregular_options());
        trainer.step();
        trainer.drain();
        alone[rank] = copies(trainer.network().parameters());
      });
    }
    testing::run_rank_threads_well(2, [&](const RankGroup& group) {
      Trainer trainer(irregular_case(text), group, irregular_options());
      trainer.step();
      trainer.drain();
      const auto mixed = copies(trainer.network().parameters());
      for (std::size_t p = 0; p < mixed.size(); ++p) {
        EXPECT_TRUE(at::equal(mixed[p], (alone[0][p] + alone[1][p]) / 2))
            << text << ", tensor " << p;
      }
    });
  }
}

TEST(Neighbors, SendWhatTheirPlansSay) {
  for (const char* text :
       {"fusion+neighbor-allreduce:topology=exp+awc", "wfbp+neighbor-allreduce:topology=star+atc",
        "fusion+neighbor-allreduce:topology=base+awc", "fusion+push-sum:topology=ring:left+atc",
        "wfbp+win-put:topology=ring+awc", "fusion+parameter-allreduce+awc",
        "dear+hierarchical-neighbor-allreduce:local=2,topology=ring+atc"}) {
    testing::run_rank_threads_well(4, [&](const RankGroup& group) {
      Trainer trainer(irregular_case(text), group, irregular_options());
      EXPECT_EQ(testing::booked(trainer, 3), testing::planned(trainer, group.rank, 3))
          << text << ", rank " << group.rank;
    });
  }
}

// Rank 1 begins when rank 0 has done four steps, none of whose puts it has taken and in none of
// which it has sent any.  The fourth is begun when the average of the third is complete.
TEST(WinPut, WaitsForNobody) {
  std::promise<void> ahead;
  const std::shared_future<void> is_ahead = ahead.get_future().share();
  testing::run_rank_threads_well(2, [&](const RankGroup& group) {
    Trainer trainer(irregular_case("fusion+win-put+awc"), group, irregular_options());
    if (group.rank == 1) {
      ASSERT_EQ(is_ahead.wait_for(std::chrono::seconds(30)), std::future_status::ready);
    }
    for (int step = 0; step < 4; ++step) {
      trainer.step();
    }
    if (group.rank == 0) {
      const auto missed = trainer.executor().take_staleness();
      EXPECT_EQ(missed.begin()->first, 1) << "of the first step, that one";
      EXPECT_EQ(missed.count(3), 1U) << "of the third all three";
      ahead.set_value();
    }
    trainer.drain();
  });
}

}  // namespace
}  // namespace paceline::rank
