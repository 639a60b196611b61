// SPDX-License-Identifier: Apache-2.0
#include "paceline/strategies/periodic_merge.h"

#include <algorithm>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "paceline/strategies/concurrent_transfers.h"
#include "paceline/strategies/strategy.h"
#include "plan/toy_model.h"
#include "strategies/cut.h"

namespace paceline::strategies {
namespace {

/// A network of which each tensor belongs to some module.
struct Network {
  std::vector<Picoseconds> forward;   // by module
  std::vector<Picoseconds> backward;  // in ready order
  std::vector<std::int64_t> bytes;    // in ready order
  std::vector<std::size_t> module;    // in ready order
  Picoseconds alpha = 0, beta = 0;

  StepTimings step() const {
    StepTimings made;
    Picoseconds ready = 0;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      ready += backward[i];
      Picoseconds left = 0;
      for (std::size_t m = module[i]; m < forward.size(); ++m) {
        left += forward[m];
      }
      made.tensors.push_back({bytes[i], ready, left});
    }
    made.compute = ready;
    for (const Picoseconds time : forward) {
      made.compute += time;
    }
    return made;
  }

  TransferTime time() const {
    return [alpha = alpha, beta = beta](std::int64_t size) { return alpha + beta * size; };
  }
};

Network network(std::mt19937& rng, std::size_t most_tensors) {
  Network made;
  const std::size_t modules = 1 + rng() % 5;
  for (std::size_t m = 0; m < modules; ++m) {
    made.forward.push_back(static_cast<Picoseconds>(rng() % 60));
  }
  const std::size_t count = 1 + rng() % most_tensors;
  for (std::size_t i = 0; i < count; ++i) {
    made.backward.push_back(static_cast<Picoseconds>(rng() % 40));
    made.bytes.push_back(static_cast<std::int64_t>(1 + rng() % 60));
    made.module.push_back(rng() % modules);
  }
  made.alpha = static_cast<Picoseconds>(rng() % 50);
  made.beta = static_cast<Picoseconds>(rng() % 4);
  return made;
}

/// Step after step on one clock, module by module: nothing shared with the planner, which says that
/// one step is enough.
Picoseconds played(const Network& net, const std::vector<std::size_t>& sizes) {
  Picoseconds begin = 0, before = 0, wire = 0;
  for (int step = 0; step < 6; ++step) {
    std::vector<Picoseconds> updated(net.forward.size(), 0);
    Picoseconds now = begin;
    std::size_t next = 0;
    for (const std::size_t size : sizes) {
      Picoseconds bytes = 0;
      const std::size_t first = next;
      for (; next < first + size; ++next) {
        now += net.backward[next];
        bytes += net.bytes[next];
      }
      wire = std::max(wire, now) + net.alpha + net.beta * bytes;
      for (std::size_t i = first; i < next; ++i) {
        updated[net.module[i]] = std::max(updated[net.module[i]], wire);
      }
    }
    for (std::size_t m = 0; m < net.forward.size(); ++m) {
      now = std::max(now, updated[m]) + net.forward[m];
    }
    before = begin;
    begin = now;
  }
  return begin - before;
}

TEST(BestStep, IsTheShortestOfAllCutsOfUpToTwelveTensors) {
  std::mt19937 rng(11);
  int ending_early_is_worse = 0;
  for (int n = 0; n < 300; ++n) {
    const Network net = network(rng, kTriedTensors);
    const std::size_t count = net.bytes.size();
    const StepTimings step = net.step();
    constexpr auto kNever = std::numeric_limits<Picoseconds>::max();
    Picoseconds best = kNever, earliest = kNever, step_of_earliest = kNever;
    for (std::uint32_t bits = 0; bits < (1U << (count - 1)); ++bits) {
      const Picoseconds one = played(net, cut(count, bits));
      const PredictedCut said = step_of(step, net.time(), cut(count, bits));
      EXPECT_EQ(said.step, one) << n;
      best = std::min(best, one);
      if (said.end < earliest) {
        earliest = said.end;
        step_of_earliest = one;
      }
    }
    const PredictedCut found = best_step(step, net.time());
    EXPECT_EQ(found.step, best) << n;
    EXPECT_TRUE(found.is_least) << n;
    EXPECT_EQ(played(net, found.sizes), best) << n;
    ending_early_is_worse += step_of_earliest > best ? 1 : 0;
  }
  EXPECT_GT(ending_early_is_worse, 0) << "or the objectives do not differ";
}

TEST(BestStep, WeighsTheForwardThatIsLeft) {
  const Network net{.forward = {10, 10, 10},
                    .backward = {10, 10, 10},
                    .bytes = {10, 10, 10},
                    .module = {2, 1, 0},
                    .alpha = 4,
                    .beta = 1};
  // Alone they end at 24, 38, 52 with 10, 20, 30 left: 82.  The last two together end at 54, the
  // first two at 44 and the last at 58.
  EXPECT_EQ(step_of(net.step(), net.time(), {1, 1, 1}).step, 82);
  EXPECT_EQ(step_of(net.step(), net.time(), {1, 2}).step, 84);
  EXPECT_EQ(step_of(net.step(), net.time(), {2, 1}).step, 88);
  EXPECT_EQ(best_step(net.step(), net.time()).sizes, (std::vector<std::size_t>{1, 1, 1}));
}

TEST(BestStep, EndsEarlyAmongEqualSteps) {
  const Network net{.forward = {0, 1'000},
                    .backward = {10, 10},
                    .bytes = {10, 10},
                    .module = {1, 1},
                    .alpha = 30,
                    .beta = 0};
  EXPECT_EQ(best_step(net.step(), net.time()).sizes, std::vector<std::size_t>{2})
      << "ends at 50 instead of 70";
}

/// Start-ups run side by side, bytes take 1 each.
TransferTime at_once(Picoseconds alpha, std::int32_t most) {
  return {[=](std::int64_t bytes) { return alpha + bytes; }, [=](std::int64_t) { return alpha; },
          most};
}

TEST(ConcurrentTransfers, SharesTheWireBehindStartUpsOfTheirOwn) {
  ConcurrentTransfers two(2);
  two.add(0, 10, 30);  // alone to 20, both until it has had 20 more at half
  two.add(10, 10, 5);  // flows from 20
  two.add(11, 10, 40);
  // The first has 20 left at 20; the second ends at 30 with 5 at half, then
  // the third starts up until 40; the first has 15 left, 5 at 40; the third takes half until the
  // first ends at 50, has 35 left and ends at 85.
  EXPECT_EQ(two.ends(), (std::vector<Picoseconds>{50, 30, 85}));
  ConcurrentTransfers all(0);
  all.add(0, 0, 10);
  all.add(0, 0, 20);
  all.add(0, 0, 30);
  EXPECT_EQ(all.ends(), (std::vector<Picoseconds>{30, 50, 60}));
  ConcurrentTransfers one(1);
  one.add(0, 5, 10);
  one.add(1, 5, 10);
  one.add(40, 5, 10);
  EXPECT_EQ(one.ends(), (std::vector<Picoseconds>{15, 30, 55}));
}

TEST(BestStep, TriesAllCutsWhereUnitsCrossSideBySide) {
  std::mt19937 rng(12);
  for (int n = 0; n < 40; ++n) {
    const Network net = network(rng, 8);
    const std::size_t count = net.bytes.size();
    for (const std::int32_t most : {2, 0}) {
      const TransferTime time = at_once(net.alpha, most);
      const PredictedCut found = best_step(net.step(), time);
      EXPECT_TRUE(found.is_least);
      for (std::uint32_t bits = 0; bits < (1U << (count - 1)); ++bits) {
        EXPECT_LE(found.step, step_of(net.step(), time, cut(count, bits)).step) << n;
      }
    }
  }
}

TEST(BestStep, ImprovesOnSimpleCutsOfManyTensors) {
  std::mt19937 rng(13);
  for (int n = 0; n < 10; ++n) {
    Network net = network(rng, 40);
    while (net.bytes.size() <= kTriedTensors) {
      net = network(rng, 40);
    }
    const TransferTime time = at_once(net.alpha, 2);
    const StepTimings step = net.step();
    const PredictedCut found = best_step(step, time);
    EXPECT_EQ(found.step, step_of(step, time, found.sizes).step);
    EXPECT_LE(found.step, step_of(step, time, {step.tensors.size()}).step);
    EXPECT_LE(found.step,
              step_of(step, time, std::vector<std::size_t>(step.tensors.size(), 1)).step);
  }
}

TEST(StepTimings, HoldPaddedBytesAndTheForwardThatIsLeft) {
  PlanInput input = input_of(small_model(), 2);
  input.profile->forward = {1, 10, 100, 1'000};
  StepTimings step = step_timings_of(input, "test");
  ASSERT_EQ(step.tensors.size(), 7u);
  EXPECT_EQ(step.compute, 1'111 + 7 * 2'000);
  EXPECT_EQ(step.tensors[0].bytes, 128);  // 24 floats
  EXPECT_EQ(step.tensors[0].left, 1'000);
  EXPECT_EQ(step.tensors[0].ready, 2'000);
  EXPECT_EQ(step.tensors[6].bytes, 128);  // 20 floats
  EXPECT_EQ(step.tensors[6].left, 1'111);
  input.micro_batches = 3;
  step = step_timings_of(input, "test");
  EXPECT_EQ(step.compute, 3 * (1'111 + 14'000));
  EXPECT_EQ(step.tensors[0].left, 1'000 + 2 * (1'111 + 14'000));
  input.micro_batches = 1;
  input.loss_scaling = true;
  EXPECT_EQ(step_timings_of(input, "test").tensors[0].left, 1'111);
}

TEST(OptimalMerge, SaysWhatItPredicts) {
  const PlanInput input = input_of(toy_model({{256}, {256}}), 2);
  // Ready at 2 and 4 ns; 3 ns + 10.24 ns a tensor: the first ends at 15.24
  // with 1 ns left, the second at 28.48 with 2; together at 27.48.
  EXPECT_EQ(make_planner(parse_strategy("optimal-merge"))->remark(input),
            "1 bucket of 2 tensors; a step is predicted to take 0.000 ms, no cut takes less");
}

}  // namespace
}  // namespace paceline::strategies
