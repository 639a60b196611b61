// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <cctype>
#include <memory>
#include <thread>

#include <gtest/gtest.h>

#include "execution/toy_network.h"
#include "paceline/execution/dispatcher.h"
#include "paceline/execution/message_tags.h"
#include "paceline/execution/model_gates.h"
#include "paceline/plan/cost.h"
#include "paceline/plan/interpreter.h"
#include "plan/toy_machine.h"
#include "plan/toy_model.h"
#include "strategies/strategy_texts.h"

// The classes that the runtime consists of, on threads, with an engine whose
// data moves at random moments: every row of the strategy table must end with
// the interpreter's values, bit for bit.

namespace paceline::execution {
namespace {

using testing::SharedMemory;
using testing::ToyNetwork;

constexpr plan::Step kSteps = 3;
constexpr plan::Rank kRanks = 3;  // every strategy exists for as many

/// Starts ops on the network.  `reports_early`: an op ends before its data has
/// moved, as if nobody waited for the engine.
class ToyIssuer final : public Issuer {
 public:
  ToyIssuer(ToyNetwork& network, plan::Rank rank, bool reports_early)
      : network_(network), rank_(rank), reports_early_(reports_early) {}

  void open(plan::Step step, const plan::CommPlan& plan) override {
    tags_.open(step, plan);
  }

  Watch start(plan::OpRef ref, const plan::Op& op) override {
    struct Parts {
      std::atomic<std::size_t> left;  // messages, and the call of the watch
    };
    const auto* exchange = std::get_if<plan::Exchange>(&op.work);
    const std::size_t count =
        exchange == nullptr
            ? 1
            : exchange->sends.size() + exchange->receives.size();
    const auto parts = std::make_shared<Parts>(count + 1);
    const auto end = [this, ref, parts] {
      if (parts->left.fetch_sub(1) == 1 && !reports_early_) {
        listener->op_ended(ref, nullptr);
      }
    };
    if (exchange == nullptr) {
      network_.start(rank_, std::get<plan::Collective>(op.work), end);
    } else {
      const auto tags = tags_.take(ref);
      for (std::size_t i = 0; i < exchange->sends.size(); ++i) {
        const auto& [peer, slice] = exchange->sends[i];
        network_.start(
            true, exchange->on, rank_, peer, tags.sends[i], slice, end);
      }
      for (std::size_t i = 0; i < exchange->receives.size(); ++i) {
        const auto& [peer, slice] = exchange->receives[i];
        network_.start(
            false, exchange->on, peer, rank_, tags.receives[i], slice, end);
      }
    }
    return [this, ref, end] {
      end();
      if (reports_early_) {
        listener->op_ended(ref, nullptr);
      }
    };
  }

  void send_pick(std::size_t on, plan::OpRef pick) override {
    network_.pick(static_cast<plan::CommunicatorId>(on), rank_, pick);
  }
  void receive_pick(std::size_t on) override {
    network_.ask(static_cast<plan::CommunicatorId>(on),
                 rank_,
                 [this, on](plan::OpRef pick) {
                   listener->pick_arrived(on, pick, nullptr);
                 });
  }

  IssueListener* listener = nullptr;

 private:
  ToyNetwork& network_;
  plan::Rank rank_;
  bool reports_early_;
  MessageTags tags_;
};

/// One rank: a dispatcher, and the model work of the training thread.
class ToyRank {
 public:
  ToyRank(const plan::Planner& planner,
          const plan::PlanWorld& world,
          plan::Rank rank,
          SharedMemory& memory,
          ToyNetwork& network,
          bool reports_early)
      : world_(world),
        rank_(rank),
        memory_(memory),
        trains_(rank < planner.training_ranks(world.input(rank))),
        issuer_(network, rank, reports_early),
        programs_(planner, world.input(rank), world.setup(rank)),
        dispatcher_(
            world.input(rank),
            world.setup(rank),
            issuer_,
            [this](plan::OpRef, const plan::Kernel& kernel) { run(kernel); },
            {.timeout = std::chrono::seconds(30)}),
        gates_(dispatcher_, world.input(rank)) {
    issuer_.listener = &dispatcher_;
  }

  void run_steps() {
    for (plan::Step step = 0; step < kSteps; ++step) {
      if (!trains_) {
        dispatcher_.wait_steps(1);
      }
      gates_.begin_step(step, programs_.at(step));
      for (int micro = 0; trains_ && micro < input().micro_batches; ++micro) {
        compute(step, micro);
      }
      dispatcher_.end_step();
    }
    dispatcher_.wait_all();
  }

 private:
  const plan::PlanInput& input() const { return world_.input(rank_); }

  void compute(plan::Step step, int micro) {
    gates_.begin_forward(micro);
    for (std::size_t m = 0; m < input().model.modules.size(); ++m) {
      gates_.enter(static_cast<plan::ModuleId>(m));
      gates_.leave(static_cast<plan::ModuleId>(m));
    }
    gates_.begin_backward();
    for (const plan::ParameterId p : input().model.ready_order) {
      gates_.enter_gradient(p);
      const auto& [value, gradient] =
          world_.setup(rank_).parameters[plan::index_of(p)];
      plan::Values out = plan::toy_gradient(
          rank_, step, {p, micro}, memory_.read(rank_, value));
      const plan::Values before = memory_.read(rank_, gradient);
      for (std::size_t i = 0; micro > 0 && i < out.size(); ++i) {
        out[i] += before[i];
      }
      memory_.write(rank_, gradient, out);
      gates_.leave_gradient(p);
    }
    gates_.end_backward();
  }

  void run(const plan::Kernel& kernel) {
    std::vector<plan::Values> reads;
    for (const plan::Access& access : kernel.reads) {
      reads.push_back(memory_.read(rank_, access.slice));
    }
    const auto out = plan::toy_kernel(kernel, reads);
    for (std::size_t w = 0; w < out.size(); ++w) {
      memory_.write(rank_, kernel.writes[w].slice, out[w]);
    }
  }

  const plan::PlanWorld& world_;
  plan::Rank rank_;
  SharedMemory& memory_;
  bool trains_;
  ToyIssuer issuer_;
  StepPrograms programs_;
  Dispatcher dispatcher_;
  ModelGates gates_;
};

/// The memory after all steps of all ranks.
plan::ToyMemory run(const plan::Planner& planner,
                    const plan::PlanWorld& world,
                    std::uint32_t seed,
                    bool reports_early = false) {
  SharedMemory memory(world);
  std::vector<std::unique_ptr<ToyRank>> ranks;
  {
    ToyNetwork network(world, memory, seed);
    for (plan::Rank rank = 0; rank < world.ranks(); ++rank) {
      ranks.push_back(std::make_unique<ToyRank>(
          planner, world, rank, memory, network, reports_early));
    }
    std::vector<std::thread> threads;
    std::atomic<int> failed = 0;
    for (const auto& rank : ranks) {
      threads.emplace_back([&] {
        try {
          rank->run_steps();
        } catch (const std::exception& error) {
          ADD_FAILURE() << error.what();
          ++failed;
        }
      });
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
  }  // what the network still moves arrives here
  return memory.whole();
}

plan::ToyMemory meaning_of(const plan::PlanWorld& world) {
  plan::ToyMachine machine(world);
  plan::interpret(world, machine);
  return machine.memory;
}

class EveryStrategy : public ::testing::TestWithParam<std::string> {};

TEST_P(EveryStrategy, EndsWithTheInterpretersValues) {
  const auto planner =
      strategies::make_planner(strategies::parse_strategy(GetParam()));
  for (const plan::Rank ranks : {2, 3, 4}) {
    for (const int micro_batches : {1, 2}) {
      plan::PlanInput input = plan::input_of(plan::tiny_model(), ranks);
      input.micro_batches = micro_batches;
      std::optional<plan::PlanWorld> world;
      try {
        world.emplace(*planner, input, kSteps);
      } catch (const UsageError&) {
        continue;  // the strategy does not exist in this world
      }
      const plan::ToyMemory expected = meaning_of(*world);
      for (const std::uint32_t seed : {1U, 2U}) {
        EXPECT_EQ(run(*planner, *world, seed), expected)
            << ranks << " ranks, " << micro_batches << " micro-batches, seed "
            << seed;
      }
    }
  }
}

// An op that counts as complete before its data has arrived must be seen.
TEST_P(EveryStrategy, AnEndThatIsReportedTooEarlyIsSeen) {
  const auto planner =
      strategies::make_planner(strategies::parse_strategy(GetParam()));
  const plan::PlanWorld world(
      *planner, plan::input_of(plan::tiny_model(), kRanks), kSteps);
  const plan::ToyMemory expected = meaning_of(world);
  int seen = 0;
  for (std::uint32_t seed = 0; seed < 3; ++seed) {
    seen += run(*planner, world, seed, true) == expected ? 0 : 1;
  }
  bool communicates = false;
  for (plan::Step step = 0; step < kSteps; ++step) {
    communicates = communicates || plan::communicates(planner->plan(
                                       world.input(0),
                                       world.setup(0),
                                       planner->variant(world.input(0), step)));
  }
  EXPECT_EQ(seen > 0, communicates);
}

/// Those whose ops the executor itself performs.
std::vector<std::string> performed_strategies() {
  std::vector<std::string> texts = strategies::strategy_texts();
  std::erase_if(texts, [](const std::string& text) {
    const auto planner =
        strategies::make_planner(strategies::parse_strategy(text));
    const plan::PlanInput input = plan::input_of(plan::tiny_model(), kRanks);
    return plan::has_performer(planner->plan(input, planner->setup(input), 0));
  });
  return texts;
}

INSTANTIATE_TEST_SUITE_P(All,
                         EveryStrategy,
                         ::testing::ValuesIn(performed_strategies()),
                         [](const auto& test) {
                           std::string name = test.param;
                           std::erase_if(name, [](unsigned char c) {
                             return std::isalnum(c) == 0;
                           });
                           return name;
                         });

}  // namespace
}  // namespace paceline::execution
