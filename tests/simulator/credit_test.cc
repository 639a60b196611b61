// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "simulator/toy.h"

namespace paceline::simulator {
namespace {

// Ranks that serve spend their credit on what they push while others push to them: what they
// receive needs none.
TEST(Credit, IsForWhatARankSends) {
  for (const char* exchange : {"ps", "ps:local=2", "ps:local=0"}) {
    const auto planner = planner_of(
        std::string("bytescheduler:partition-mb=0.0003,order=priority,credit-mb=0+") + exchange);
    for (const plan::Rank world : {2, 4, 6}) {
      auto input = toy_input(4, world);
      input.local_world = hosts_of(world, 2);
      EXPECT_GT(simulate(*planner, input, toy_costs(input)).step, 0) << exchange << ", " << world;
    }
  }
}

/// When the all-reduce of each tensor of the first step crosses, the last layer's first; five
/// layers of one tensor, 1 ms each on the wire.
std::vector<plan::Picoseconds> crossings(const std::string& strategy, const cluster::Noise& noise) {
  const auto input = toy_input(5, 2);
  Costs costs = toy_costs(input);
  costs.machine.device.bytes_per_s = 1'024'000;
  costs.machine.noise = noise;
  const Job job = compile(*planner_of(strategy), input, {.steps = 2, .fold = false});
  Simulator simulator(job);
  simulator.run(costs);
  std::vector<plan::Picoseconds> begins;
  for (ItemId id = job.actors[1].first; begins.size() < 5; ++id) {
    if (job.items[id].kind == ItemKind::kCollective) {
      begins.push_back(
          simulator.transfers()[job.transfers_by_item[job.items[id].first_transfer]].begin);
    }
  }
  return begins;
}

// Three are in flight when the rest is ready: of that, the next forward's
// first goes first, and is not overtaken by what is picked behind it.
TEST(Credit, PicksCrossInTheirOrder) {
  const auto begin = crossings("bytescheduler:partition-mb=1,order=priority,credit-mb=0.00196", {});
  const plan::Picoseconds ready = (50 + 20) * kUs, each = 1000 * ready / 70;
  EXPECT_EQ(begin[0], ready);
  for (const std::size_t i : {1, 2, 3, 4}) {
    const std::size_t turn = i < 3 ? i : 7 - i;  // 4 before 3
    EXPECT_EQ(begin[i], ready + static_cast<plan::Picoseconds>(turn) * each) << i;
  }
}

// A rank that is late follows the first one's picks.
TEST(Credit, LateRanksFollowTheFirst) {
  for (const std::uint64_t seed : {1, 2, 3, 4, 5}) {
    const auto begin = crossings("bytescheduler:partition-mb=1,order=priority,credit-mb=0",
                                 {.seed = seed, .sigma = 0.5});
    EXPECT_LT(begin[0], begin[4]) << seed;
    EXPECT_LT(begin[4], begin[1]) << seed;
  }
}

}  // namespace
}  // namespace paceline::simulator
