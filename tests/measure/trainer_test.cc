// SPDX-License-Identifier: Apache-2.0
#include "paceline/measure/trainer.h"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <future>
#include <mutex>
#include <ostream>
#include <string>

#include <gtest/gtest.h>
#include <torch/types.h>

#include "measure/failing_engine.h"
#include "measure/run_team.h"
#include "measure/small_case.h"
#include "paceline/base/error.h"
#include "paceline/measure/shape_of.h"
#include "paceline/plan/cost.h"
#include "paceline/plan/program.h"
#include "paceline/strategies/ddp.h"

namespace paceline::measure {
namespace {

using testing::gradients_after;
using testing::identical;
using testing::small_case;

// Sum over ranks of the gradients that each rank has alone: exact, because
// every gradient is a small integer.
std::vector<at::Tensor> exact_sum(const std::string& model, int world) {
  std::vector<at::Tensor> sum;
  for (int rank = 0; rank < world; ++rank) {
    testing::run_team_well(1, [&](const Team& alone) {
      Team team = alone;
      team.rank = rank;  // the data of that rank; "none" meets nobody
      team.world = world;
      Trainer trainer(small_case(model, "none"), team, {.integers = true});
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

// Reduce-scatter in backward, all-gather before the module's next forward, one
// update per bucket: nothing of it is an all-reduce, and the all-gathers cross
// the step border (Zhang et al., "DeAR", ICDCS 2023).
class ScatterGather final : public plan::Planner {
 public:
  plan::Setup setup(const plan::PlanInput& input) const override {
    plan::SetupBuilder builder(input, groups(input), input.world);
    builder.add_world("world");
    plan::Setup setup = std::move(builder).finish();
    for (const auto& bucket : plan::buckets_of(setup, groups(input))) {
      setup.buffers.push_back(
          {.name = "shard" + std::to_string(setup.buffers.size()),
           .dtype = plan::DType::kF32,
           .elements = bucket.gradients.count / input.world});
    }
    return setup;
  }
  plan::Variant variant(const plan::PlanInput& /*input*/,
                        plan::Step /*step*/) const override {
    return 0;
  }
  plan::CommPlan plan(const plan::PlanInput& input,
                      const plan::Setup& setup,
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
    testing::run_team_well(world, [&](const Team& team) {
      Trainer expected(c, team, {.integers = true});
      Team other = team;
      other.name = "scatter-gather";
      Trainer trainer(
          c,
          other,
          {.integers = true, .planner = std::make_shared<ScatterGather>()});
      EXPECT_EQ(trainer.parameter_digest(), expected.parameter_digest());
      const auto start = trainer.parameter_digest();
      // Exact in any order of summing: the first step has integers, and halves
      // of them still fit a float's 24 bits in the second.
      for (int i = 0; i < (world == 2 ? 2 : 1); ++i) {
        expected.step();
        trainer.step();
      }
      expected.drain();
      trainer.drain();
      EXPECT_NE(trainer.parameter_digest(), start);
      EXPECT_EQ(trainer.parameter_digest(), expected.parameter_digest())
          << "world " << world;
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

// Paceline sums and divides once, so the mean is the correctly rounded one in
// every world; the Reducer multiplies by 1/P first, exact for powers of two.
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
    testing::run_team_well(world, [&](const Team& team) {
      Trainer trainer(small_case(model, strategy), team, {.integers = true});
      EXPECT_TRUE(identical(gradients_after(trainer, 3), expected))
          << "rank " << team.rank << " of " << world;
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Strategies,
                         ExactExchange,
                         ::testing::Values(Exchange{"mlp", "bsp"},
                                           Exchange{"mlp", "wfbp"},
                                           Exchange{"mlp", "fusion"},
                                           Exchange{"mlp", "ddp"},
                                           Exchange{"lenet",
                                                    "fusion:bucket-mb=0.05"},
                                           Exchange{"lenet", "ddp"},
                                           Exchange{"lenet",
                                                    "ddp:views=yes,"
                                                    "static=yes"}),
                         [](const auto& row) {
                           std::string name =
                               row.param.model + "_" + row.param.strategy;
                           std::replace_if(
                               name.begin(),
                               name.end(),
                               [](char c) { return !std::isalnum(c); },
                               '_');
                           return name;
                         });

// One step of the steady state moves the plan's bytes in the plan's calls.
void expect_planned_traffic(const records::Configuration& c, int world) {
  testing::run_team_well(world, [&](const Team& team) {
    Trainer trainer(c, team);
    trainer.step();
    trainer.step();  // the Reducer rebuilds its buckets here
    trainer.drain();
    const auto before = trainer.ledger();
    trainer.step();
    trainer.drain();
    const auto after = trainer.ledger();
    const auto planned = plan::cost(
        trainer.setup(),
        trainer.planner().plan(trainer.input(),
                               trainer.setup(),
                               trainer.planner().variant(trainer.input(), 2)),
        team.rank);
    EXPECT_EQ(after.total_bytes() - before.total_bytes(), planned.wire_bytes)
        << c.strategy;
    EXPECT_EQ(after.total_calls() - before.total_calls(), planned.calls)
        << c.strategy;
  });
}

TEST(Trainer, SendsWhatItsPlanSays) {
  for (const std::string strategy :
       {"none", "bsp", "wfbp", "fusion", "ddp", "ddp:views=yes"}) {
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
  for (const std::string strategy :
       {"ddp:bucket-mb=4", "ddp:bucket-mb=4,views=yes,static=yes"}) {
    SCOPED_TRACE(strategy);
    testing::run_team_well(2, [&](const Team& team) {
      auto small = small_case("resnet18", strategy);
      small.image_size = 32;
      Trainer trainer(small, team);
      for (int step = 0; step < 3; ++step) {
        trainer.step();
        trainer.drain();
      }
      const auto& shape = trainer.input().model;
      const auto groups = strategies::reducer_buckets(
          shape, {.first = 4 << 20, .cap = 4 << 20}, 2);
      std::vector<std::int64_t> predicted;
      for (const auto& group : groups) {
        std::int64_t bytes = 0;
        for (const auto p : group) {
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
  testing::run_team_well(4, [&](const Team& team) {
    auto c = small_case("lenet", "fusion");
    c.learning_rate = 0.05;
    c.weight_decay = 1e-4;
    Trainer trainer(c, team);
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
  testing::run_team_well(2, [&](const Team& team) {
    Trainer trainer(small_case("mlp", "bsp"), team);
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
  std::unique_ptr<engines::Channel> connect(
      const engines::ChannelSpec& spec) override {
    largest_operation = spec.largest_operation;
    return real_.connect(spec);
  }

  std::int64_t largest_operation = 0;

 private:
  engines::Engine& real_;
};

TEST(Trainer, TellsItsEngineTheLargestOperation) {
  testing::run_team_well(2, [](const Team& team) {
    ToldEngine engine(*team.engine);
    Team told = team;
    told.engine = &engine;
    const Trainer trainer(small_case("mlp", "bsp"), told);
    EXPECT_EQ(engine.largest_operation,
              plan::largest_payload(
                  trainer.planner(), trainer.input(), trainer.setup()));
    EXPECT_GT(engine.largest_operation, 0);
  });
}

TEST(Trainer, AccumulatesMicroBatches) {
  for (const std::string strategy : {"bsp", "fusion", "ddp", "none"}) {
    auto whole = small_case("mlp", strategy);
    auto parts = whole;
    parts.accumulate = 4;
    testing::run_team_well(strategy == "none" ? 1 : 2, [&](const Team& team) {
      Team other = team;
      other.name = "parts";
      Trainer one(whole, team, {.integers = true});
      const auto expected = gradients_after(one, 2);
      Trainer four(parts, other, {.integers = true});
      EXPECT_TRUE(identical(gradients_after(four, 2), expected)) << strategy;
    });
  }
}

TEST(Trainer, NamesTheOperationThatALostRankLeavesWaiting) {
  const auto errors = testing::run_team(2, [](const Team& team) {
    Trainer trainer(small_case("mlp", "bsp"),
                    team,
                    {.timeout = std::chrono::milliseconds(700)});
    trainer.step();
    trainer.drain();
    if (team.rank == 0) {
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
  const auto errors = testing::run_team(2, [](const Team& team) {
    Trainer trainer(small_case("mlp", "bsp"),
                    team,
                    {.timeout = std::chrono::milliseconds(300),
                     .first_step = std::chrono::milliseconds(500)});
    if (team.rank == 1) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1200));
    }
    trainer.step();
    trainer.drain();
  });
  EXPECT_EQ(errors, (std::vector<std::string>{"", ""}));
}

TEST(Trainer, ALostStoreUnderTheHeartbeatIsAnErrorOfTheStep) {
  const auto errors = testing::run_team(1, [](const Team& team) {
    const auto gone = [](plan::Step, const std::string&) {
      throw WorldError("the store is gone");
    };
    Trainer trainer(small_case("mlp", "bsp"), team, {.beat = gone});
    const auto until =
        std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (std::chrono::steady_clock::now() < until) {
      trainer.step();
    }
  });
  EXPECT_EQ(errors[0], "the store is gone");
}

TEST(Trainer, RefusesPlansThatDifferBetweenRanks) {
  for (const std::string strategy : {"fusion", "ddp"}) {
    const auto errors = testing::run_team(3, [&](const Team& team) {
      auto c = small_case("lenet", strategy);
      c.bucket_mb = team.rank == 2 ? 0.02 : 0.25;
      const Trainer trainer(c, team);
    });
    for (const std::string& error : errors) {
      EXPECT_EQ(error.find("rank 2's plan differs from rank 0's on communicat"),
                0U)
          << strategy << ": " << error;
    }
  }
}

// The Reducer waits inside backward, where no gate is.
TEST(Trainer, NamesTheOperationThatTheReducerWaitsIn) {
  std::promise<std::string> stuck;
  const auto told = stuck.get_future().share();
  const auto errors = testing::run_team(2, [&](const Team& team) {
    TrainerOptions options{.timeout = std::chrono::milliseconds(700),
                           .grace = std::chrono::milliseconds(100)};
    if (team.rank == 0) {
      options.stuck = [&](const std::exception_ptr& why) {
        try {
          std::rethrow_exception(why);
        } catch (const std::exception& error) {
          stuck.set_value(error.what());
        }
      };
    }
    Trainer trainer(small_case("mlp", "ddp"), team, options);
    trainer.step();
    trainer.drain();
    if (team.rank == 0) {
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

// Of two operations that are ready at once the second cannot start: the first
// is still watched, so the executor ends well.
TEST(Trainer, NamesTheOperationThatCannotStart) {
  const auto errors = testing::run_team(2, [](const Team& team) {
    testing::FailingEngine engine(*team.engine, /*good_all_reduces=*/5);
    Team failing = team;
    failing.engine = &engine;
    Trainer trainer(small_case("mlp", "wfbp"), failing);
    for (int i = 0; i < 5; ++i) {
      trainer.step();
    }
    trainer.drain();
  });
  for (const std::string& error : errors) {
    EXPECT_NE(error.find("all-reduce"), std::string::npos) << error;
    EXPECT_NE(error.find("could not start: no more"), std::string::npos)
        << error;
  }
}

TEST(NetworkOptions, TurnDropoutOffWhereFrameworksStartFromEqualWeights) {
  records::Configuration c;
  EXPECT_FALSE(network_options(c).dropout.has_value());
  c.start = "formula";
  EXPECT_EQ(network_options(c).dropout, 0);
}

}  // namespace
}  // namespace paceline::measure
