// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "execution/toy_rank.h"
#include "paceline/base/error.h"
#include "paceline/plan/access.h"
#include "paceline/plan/program.h"
#include "paceline/strategies/strategy.h"
#include "plan/hand_plans.h"
#include "plan/interpret_as_run.h"
#include "plan/toy_machine.h"
#include "plan/toy_model.h"
#include "strategies/strategy_texts.h"

// Plans whose readers may miss writes, on threads: how much they miss, that they see no half of a
// write, and that the count of it is right.

namespace paceline::execution {
namespace {

using testing::SharedMemory;
using testing::ToyNetwork;
using testing::ToyRank;

constexpr plan::Step kRecordedSteps = 6;

/// Each rank trains, sends the number of its steps to the other, and reads the other's newest, late
/// by `slack` steps at most.
plan::HandPlanner stamps(plan::Step slack) {
  return {[](const plan::PlanInput& input) {
            plan::SetupBuilder builder(input, {input.model.ready_order});
            builder.add_as_ready_communicator("all");
            for (const char* name : {"mine", "put0", "put1", "put2", "landed", "theirs", "seen"}) {
              builder.add_buffer({.name = name, .elements = 1});
            }
            return std::move(builder).finish();
          },
          [slack](plan::Program& program, plan::Variant variant) {
            const auto buffer = [&](const std::string& name) {
              return plan::whole(program.setup(), plan::buffer_named(program.setup(), name));
            };
            const plan::Slice put = buffer("put" + std::to_string(static_cast<int>(variant)));
            const plan::Rank peer = 1 - program.input().rank;
            const plan::CommunicatorId all{0};
            program.kernel("count", {{buffer("mine")}}, {{buffer("mine")}});
            program.kernel("copy", {{buffer("mine")}}, {{put}}, {1});
            program.exchange(all, {{peer, put}}, {});
            program.exchange(all, {}, {{peer, buffer("landed")}});
            program.kernel("copy", {{buffer("landed")}}, {{buffer("theirs")}}, {1});
            program.compute();
            program.kernel("copy", {{buffer("theirs"), slack}}, {{buffer("seen")}}, {1});
            program.update(
                plan::buckets_of(program.setup(), {program.input().model.ready_order}).front(), 1);
          },
          3};
}

/// Runs all ranks, each with pauses of its own, and hands each of them to
/// `prepare` before.
template <class Prepare>
void run_ranks(const plan::Planner& planner, const plan::PlanWorld& world, std::uint32_t seed,
               plan::Step steps, SharedMemory& memory, std::vector<std::unique_ptr<ToyRank>>& ranks,
               const Prepare& prepare) {
  ToyNetwork network(world, memory, seed);
  const testing::ToyRun run{.steps = steps, .seed = seed};
  for (plan::Rank rank = 0; rank < world.ranks(); ++rank) {
    ranks.push_back(std::make_unique<ToyRank>(planner, world, rank, memory, network, run));
    auto random = std::make_shared<std::mt19937>(seed * 7 + rank);
    ranks.back()->before_step = [random](plan::Step) {
      std::this_thread::sleep_for(std::chrono::microseconds((*random)() % 4 == 0 ? 1500 : 0));
    };
    prepare(*ranks.back(), rank);
  }
  std::vector<std::thread> threads;
  for (const auto& rank : ranks) {
    threads.emplace_back([&rank] {
      try {
        rank->run_steps();
      } catch (const std::exception& error) {
        ADD_FAILURE() << error.what();
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

TEST(Slack, IsTheMostThatAReaderMissesAndIsCounted) {
  constexpr plan::Step kSteps = 24;
  std::map<plan::Step, std::int64_t> over_all;
  for (const plan::Step slack : {1, 2, 64}) {
    for (std::uint32_t seed = 0; seed < 6; ++seed) {
      const plan::HandPlanner planner = stamps(slack);
      const plan::PlanWorld world(planner, plan::input_of(plan::tiny_model(), 2), kSteps);
      SharedMemory memory(world);
      std::vector<std::unique_ptr<ToyRank>> ranks;
      std::vector<std::map<plan::Step, std::int64_t>> seen(2);
      std::vector<std::mutex> locks(2);
      run_ranks(planner, world, seed, kSteps, memory, ranks, [&](ToyRank& toy, plan::Rank rank) {
        const auto index = static_cast<std::size_t>(rank);
        toy.around_kernel = [&, rank, index](plan::OpRef ref, const plan::Kernel& kernel,
                                             const std::function<void()>& work) {
          work();
          if (kernel.reads[0].slack > 0) {
            const double stamp = memory.read(rank, kernel.writes[0].slice)[0];
            const std::lock_guard lock(locks[index]);
            ++seen[index][ref.step + 1 - static_cast<plan::Step>(stamp)];
          }
        };
      });
      for (std::size_t rank = 0; rank < 2; ++rank) {
        EXPECT_EQ(ranks[rank]->take_staleness(), seen[rank])
            << "slack " << slack << ", seed " << seed << ", rank " << rank;
        std::int64_t reads = 0;
        for (const auto& [missed, times] : seen[rank]) {
          EXPECT_GE(missed, 0);
          EXPECT_LE(missed, slack);
          reads += times;
          over_all[missed] += times;
        }
        EXPECT_EQ(reads, kSteps);
      }
    }
  }
  EXPECT_GT(over_all.size(), 1U) << "nobody was ever late";
}

// What excludes each other never runs at the same time: the copies into a window, and the average
// that reads it.
TEST(Slack, KernelsThatExcludeEachOtherRunOneAfterTheOther) {
  constexpr plan::Step kSteps = 12;
  const auto planner = strategies::make_planner(
      strategies::parse_strategy("fusion:bucket-mb=0.00005+win-put:topology=full"));
  const plan::PlanWorld world(*planner, plan::input_of(plan::tiny_model(), 3), kSteps);
  SharedMemory memory(world);
  std::vector<std::unique_ptr<ToyRank>> ranks;
  struct Running {
    std::mutex mutex;
    std::vector<const plan::Kernel*> kernels;
  };
  std::vector<Running> running(3);
  std::atomic<int> collisions = 0;
  const auto conflict = [](const plan::Kernel& a, const plan::Kernel& b) {
    for (const plan::Access& written : a.writes) {
      for (const auto* accesses : {&b.reads, &b.writes}) {
        for (const plan::Access& other : *accesses) {
          if (plan::overlap(written.slice, other.slice)) {
            return true;
          }
        }
      }
    }
    return false;
  };
  run_ranks(*planner, world, 1, kSteps, memory, ranks, [&](ToyRank& toy, plan::Rank rank) {
    toy.around_kernel = [&, rank](plan::OpRef, const plan::Kernel& kernel,
                                  const std::function<void()>& work) {
      Running& here = running[static_cast<std::size_t>(rank)];
      {
        const std::lock_guard lock(here.mutex);
        for (const plan::Kernel* other : here.kernels) {
          collisions += conflict(kernel, *other) || conflict(*other, kernel) ? 1 : 0;
        }
        here.kernels.push_back(&kernel);
      }
      std::this_thread::sleep_for(std::chrono::microseconds(50));
      work();
      const std::lock_guard lock(here.mutex);
      std::erase(here.kernels, &kernel);
    };
  });
  EXPECT_EQ(collisions, 0);
}

/// The memory after six steps, with the kernels of each rank in the order in which they ran.
plan::ToyMemory run_recorded(const plan::Planner& planner, const plan::PlanWorld& world,
                             std::uint32_t seed, std::vector<plan::KernelOrder>& ran) {
  SharedMemory memory(world);
  std::vector<std::unique_ptr<ToyRank>> ranks;
  std::mutex mutex;
  ran.assign(static_cast<std::size_t>(world.ranks()), {});
  run_ranks(planner, world, seed, kRecordedSteps, memory, ranks,
            [&](ToyRank& toy, plan::Rank rank) {
              toy.around_kernel = [&, rank](plan::OpRef ref, const plan::Kernel&,
                                            const std::function<void()>& work) {
                {
                  const std::lock_guard lock(mutex);
                  ran[static_cast<std::size_t>(rank)].push_back(ref);
                }
                work();
              };
            });
  return memory.whole();
}

// What a rank mixes depends on which kernels ran first, and on nothing else.
TEST(Slack, EveryStrategyThatHasSomeEndsWithTheValuesOfItsOrder) {
  int late = 0, runs = 0;
  for (const std::string& text : strategies::late_strategies()) {
    const auto planner = strategies::make_planner(strategies::parse_strategy(text));
    for (const plan::Rank ranks : {2, 3, 4}) {
      SCOPED_TRACE(text + " of " + std::to_string(ranks));
      std::optional<plan::PlanWorld> world;
      try {
        world.emplace(*planner, plan::input_of(plan::tiny_model(), ranks), kRecordedSteps);
      } catch (const UsageError&) {
        continue;  // the strategy does not exist in this world
      }
      std::vector<plan::KernelOrder> ran;
      const plan::ToyMemory end = run_recorded(*planner, *world, 3, ran);
      plan::ToyMachine as_run(*world), in_order(*world);
      ASSERT_TRUE(plan::InterpreterOfRun(*world, ran, as_run).run());
      EXPECT_EQ(end, as_run.memory);
      plan::interpret(*world, in_order);
      late += end == in_order.memory ? 0 : 1;
      ++runs;
    }
  }
  EXPECT_GE(runs, 15);
  EXPECT_GT(late, 0) << "nobody was ever late, in " << runs << " runs";
}

}  // namespace
}  // namespace paceline::execution
