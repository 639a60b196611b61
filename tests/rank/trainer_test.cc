// SPDX-License-Identifier: Apache-2.0
#include "paceline/rank/trainer.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <mutex>
#include <string>

#include <ATen/record_function.h>
#include <gtest/gtest.h>

#include "paceline/base/error.h"
#include "paceline/plan/cost.h"
#include "paceline/rank/planner_input.h"
#include "paceline/strategies/ddp.h"
#include "rank/failing_engine.h"
#include "rank/run_rank_threads.h"
#include "rank/small_case.h"

namespace paceline::rank {
namespace {

using testing::gradients_after;
using testing::identical;
using testing::small_case;

// One step of the steady state moves the plan's bytes in the plan's calls.
void expect_planned_traffic(const cases::Case& c, int world) {
  testing::run_rank_threads_well(world, [&](const RankGroup& group) {
    Trainer trainer(c, group);
    trainer.step();
    trainer.step();  // the Reducer rebuilds its buckets here
    trainer.drain();
    const auto before = trainer.ledger();
    trainer.step();
    trainer.drain();
    const auto after = trainer.ledger();
    const auto planned =
        plan::cost(trainer.setup(),
                   trainer.planner().plan(trainer.input(), trainer.setup(),
                                          trainer.planner().variant(trainer.input(), 2)),
                   group.rank);
    EXPECT_EQ(after.total_bytes() - before.total_bytes(), planned.wire_bytes) << c.strategy;
    EXPECT_EQ(after.total_calls() - before.total_calls(), planned.calls) << c.strategy;
  });
}

TEST(Trainer, SendsWhatItsPlanSays) {
  for (const std::string strategy : {"none", "bsp", "wfbp", "fusion", "ddp", "ddp:views=yes"}) {
    expect_planned_traffic(small_case("lenet", strategy), 3);
  }
}

TEST(Trainer, SendsOncePerStepHoweverManyMicroBatches) {
  for (const std::string strategy : {"bsp", "wfbp", "fusion", "ddp"}) {
    auto c = small_case("lenet", strategy);
    c.accumulate = 2;
    expect_planned_traffic(c, 2);
  }
}

TEST(Trainer, PredictsTheBucketsOfTheReducer) {
  for (const std::string strategy : {"ddp:bucket-mb=4", "ddp:bucket-mb=4,views=yes,static=yes"}) {
    SCOPED_TRACE(strategy);
    testing::run_rank_threads_well(2, [&](const RankGroup& group) {
      auto small = small_case("resnet18", strategy);
      small.image_size = 32;
      Trainer trainer(small, group);
      for (int step = 0; step < 3; ++step) {
        trainer.step();
        trainer.drain();
      }
      const auto& shape = trainer.input().model;
      const auto buckets =
          strategies::reducer_buckets(shape, {.first = 4 << 20, .cap = 4 << 20}, 2);
      std::vector<std::int64_t> predicted;
      for (const auto& bucket : buckets) {
        std::int64_t bytes = 0;
        for (const auto p : bucket) {
          bytes += 4 * shape.parameters[plan::index_of(p)].elements;
        }
        predicted.push_back(bytes);
      }
      EXPECT_GT(predicted.size(), 2U);
      EXPECT_EQ(predicted, trainer.reducer()->bucket_bytes());
    });
  }
}

TEST(Trainer, RanksHoldEqualParametersAfterTraining) {
  std::mutex mutex;
  std::vector<std::int64_t> digests;
  testing::run_rank_threads_well(4, [&](const RankGroup& group) {
    auto c = small_case("lenet", "fusion");
    c.learning_rate = 0.05;
    c.weight_decay = 1e-4;
    Trainer trainer(c, group);
    const auto start = trainer.parameter_digest();
    for (int i = 0; i < 5; ++i) {
      trainer.step();
    }
    trainer.drain();
    EXPECT_NE(trainer.parameter_digest(), start);
    const std::lock_guard lock(mutex);
    digests.push_back(trainer.parameter_digest());
  });
  EXPECT_EQ(std::count(digests.begin(), digests.end(), digests.front()), 4);
}

// Several micro-batches of one batch give the gradient of the whole batch.
TEST(Trainer, WhatADrainWaitsIsOfNoStep) {
  testing::run_rank_threads_well(2, [&](const RankGroup& group) {
    Trainer trainer(small_case("mlp", "bsp"), group);
    trainer.step();
    trainer.drain();
    EXPECT_EQ(trainer.executor().take_waited_ns(), 0);
  });
}

// Keeps what the trainer tells its engine.
class ToldEngine final : public engines::Engine {
 public:
  explicit ToldEngine(engines::Engine& real) : real_(real) {}

  std::string_view name() const override { return real_.name(); }
  std::unique_ptr<engines::Channel> connect(const engines::ChannelSpec& spec) override {
    largest_operation = spec.largest_operation;
    return real_.connect(spec);
  }

  std::int64_t largest_operation = 0;

 private:
  engines::Engine& real_;
};

TEST(Trainer, TellsItsEngineTheLargestOperation) {
  testing::run_rank_threads_well(2, [](const RankGroup& group) {
    ToldEngine engine(*group.engine);
    RankGroup told = group;
    told.engine = &engine;
    const Trainer trainer(small_case("mlp", "bsp"), told);
    EXPECT_EQ(engine.largest_operation,
              plan::largest_payload(trainer.planner(), trainer.input(), trainer.setup()));
    EXPECT_GT(engine.largest_operation, 0);
  });
}

TEST(Trainer, AccumulatesMicroBatches) {
  for (const std::string strategy : {"bsp", "fusion", "ddp", "none"}) {
    auto whole = small_case("mlp", strategy);
    auto parts = whole;
    parts.accumulate = 4;
    testing::run_rank_threads_well(strategy == "none" ? 1 : 2, [&](const RankGroup& group) {
      RankGroup other = group;
      other.name = "parts";
      Trainer one(whole, group, {.integers = true});
      const auto expected = gradients_after(one, 2);
      Trainer four(parts, other, {.integers = true});
      EXPECT_TRUE(identical(gradients_after(four, 2), expected)) << strategy;
    });
  }
}

std::atomic<int> products_into_slots{0};

std::unique_ptr<at::ObserverContext> count_product(const at::RecordFunction& function) {
  const auto name = function.operator_name();
  if (name && name->name == "aten::mm" && name->overload_name == "out") {
    ++products_into_slots;
  }
  return nullptr;
}

/// By two ranks, in their second steps.
int weight_gradients_written_into_slots(const cases::Case& c) {
  products_into_slots = 0;
  testing::run_rank_threads_well(2, [&](const RankGroup& group) {
    Trainer trainer(c, group);
    trainer.step();
    trainer.drain();
    const auto callback = at::addThreadLocalCallback(
        at::RecordFunctionCallback(count_product).scopes({at::RecordScope::FUNCTION}));
    trainer.step();
    at::removeCallback(callback);
    trainer.drain();
  });
  return products_into_slots;
}

TEST(Trainer, WritesWeightGradientsOfLinearLayersIntoTheirSlots) {
  constexpr int kLayers = 2 * 4;  // of both ranks
  auto c = small_case("mlp", "fusion");
  EXPECT_EQ(weight_gradients_written_into_slots(c), kLayers);
  c.accumulate = 2;
  EXPECT_EQ(weight_gradients_written_into_slots(c), kLayers) << "the second micro-batch adds";
  c.as_original = true;
  EXPECT_EQ(weight_gradients_written_into_slots(c), 0);
  EXPECT_EQ(weight_gradients_written_into_slots(small_case("mlp", "none")), 0);
}

TEST(Trainer, NamesTheOperationThatALostRankLeavesWaiting) {
  const auto errors = testing::run_rank_threads(2, [](const RankGroup& group) {
    Trainer trainer(small_case("mlp", "bsp"), group,
                    {.dispatcher = {.timeout = std::chrono::milliseconds(700)}});
    trainer.step();
    trainer.drain();
    if (group.rank == 0) {
      trainer.step();
      trainer.drain();
    } else {
      std::this_thread::sleep_for(std::chrono::seconds(3));
    }
  });
  EXPECT_NE(errors[0].find("all-reduce"), std::string::npos) << errors[0];
  EXPECT_NE(errors[0].find("step 1"), std::string::npos) << errors[0];
  EXPECT_NE(errors[0].find("in flight"), std::string::npos) << errors[0];
}

// A first step that is expected to last 0.5 s may last 5 s.
TEST(Trainer, AnExpectedFirstStepIsWaitedForLongerThanTheTimeout) {
  const auto errors = testing::run_rank_threads(2, [](const RankGroup& group) {
    Trainer trainer(small_case("mlp", "bsp"), group,
                    {.dispatcher = {.timeout = std::chrono::milliseconds(300),
                                    .first_step = std::chrono::milliseconds(500)}});
    if (group.rank == 1) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1200));
    }
    trainer.step();
    trainer.drain();
  });
  EXPECT_EQ(errors, (std::vector<std::string>{"", ""}));
}

TEST(Trainer, ALostStoreUnderTheHeartbeatIsAnErrorOfTheStep) {
  const auto errors = testing::run_rank_threads(1, [](const RankGroup& group) {
    const auto gone = [](plan::Step, const std::string&) { throw WorldError("the store is gone"); };
    Trainer trainer(small_case("mlp", "bsp"), group, {.dispatcher = {.heartbeat = gone}});
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (std::chrono::steady_clock::now() < until) {
      trainer.step();
    }
  });
  EXPECT_EQ(errors[0], "the store is gone");
}

TEST(Trainer, RejectsPlansThatDifferBetweenRanks) {
  for (const std::string strategy : {"fusion", "ddp"}) {
    const auto errors = testing::run_rank_threads(3, [&](const RankGroup& group) {
      auto c = small_case("lenet", strategy);
      c.bucket_mb = group.rank == 2 ? 0.02 : 0.25;
      const Trainer trainer(c, group);
    });
    for (const std::string& error : errors) {
      EXPECT_EQ(error.find("rank 2's plan differs from rank 0's on communicat"), 0U)
          << strategy << ": " << error;
    }
  }
}

// The Reducer waits inside backward, where no gate is.
TEST(Trainer, NamesTheOperationThatTheReducerWaitsIn) {
  std::promise<std::string> stuck;
  const auto told = stuck.get_future().share();
  const auto errors = testing::run_rank_threads(2, [&](const RankGroup& group) {
    TrainerOptions options{.dispatcher = {.timeout = std::chrono::milliseconds(700),
                                          .grace = std::chrono::milliseconds(100)}};
    if (group.rank == 0) {
      options.dispatcher.stuck = [&](const std::exception_ptr& why) {
        try {
          std::rethrow_exception(why);
        } catch (const std::exception& error) {
          stuck.set_value(error.what());
        }
      };
    }
    Trainer trainer(small_case("mlp", "ddp"), group, options);
    trainer.step();
    trainer.drain();
    if (group.rank == 0) {
      trainer.step();  // ends when rank 1 has left
    } else {
      told.wait();
    }
  });
  EXPECT_NE(errors[0], "");
  EXPECT_EQ(errors[1], "");
  EXPECT_NE(told.get().find("step 1"), std::string::npos) << told.get();
  EXPECT_NE(told.get().find("all-reduce"), std::string::npos) << told.get();
}

// Of two operations that are ready at once the second cannot start: the first is still watched, so
// the executor ends well.
TEST(Trainer, NamesTheOperationThatCannotStart) {
  const auto errors = testing::run_rank_threads(2, [](const RankGroup& group) {
    testing::FailingEngine engine(*group.engine, /*good_all_reduces=*/5);
    RankGroup failing = group;
    failing.engine = &engine;
    Trainer trainer(small_case("mlp", "wfbp"), failing);
    for (int i = 0; i < 5; ++i) {
      trainer.step();
    }
    trainer.drain();
  });
  for (const std::string& error : errors) {
    EXPECT_NE(error.find("all-reduce"), std::string::npos) << error;
    EXPECT_NE(error.find("could not start: no more"), std::string::npos) << error;
  }
}

TEST(NetworkOptions, TurnDropoutOffWhereFrameworksStartFromEqualWeights) {
  cases::Case c;
  EXPECT_FALSE(network_options(c).dropout.has_value());
  c.start = "formula";
  EXPECT_EQ(network_options(c).dropout, 0);
}

}  // namespace
}  // namespace paceline::rank
