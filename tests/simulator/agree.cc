// SPDX-License-Identifier: Apache-2.0
#include "simulator/agree.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "simulator/toy.h"

namespace paceline::simulator {

Costs rough_costs(const plan::PlanInput& input) {
  Costs costs = toy_costs(input);
  costs.machine.device = {.bytes_per_s = 300'000'001, .latency = 700'001};
  costs.machine.network = {
      .bytes_per_s = 50'000'003, .latency = 3'000'007, .sharing = cluster::LinkSharing::kHost};
  costs.machine.interference = {.device_link_under_compute = 0.66, .compute_under_transfer = 0.93};
  costs.software = {
      .issue = 200'003,
      .collective = 1'000'003,
      .collective_per_rank = 1'013,
      .collective_under_compute = 100'003,
      .message = 50'021,
      .kernels = {{.launch = 400'009, .launch_per_tensor = 10'007, .bytes_per_s = 1e9}}};
  for (std::size_t i = 0; i < costs.profile.forward.size(); ++i) {
    costs.profile.forward[i] += static_cast<plan::Picoseconds>(i) * 1'000'033;
    costs.profile.backward[i] += static_cast<plan::Picoseconds>(i * i) * 333'337;
  }
  return costs;
}

void expect_equal(const plan::Planner& planner, const plan::PlanInput& input, const Costs& costs,
                  plan::Step steps) {
  const Job folded = compile(planner, input, {.steps = steps});
  const Job whole = compile(planner, input, {.steps = steps, .fold = false});
  Simulator one(folded), all(whole);
  const StepTimes a = one.run(costs), b = all.run(costs);
  EXPECT_EQ(a.step, b.step);
  EXPECT_EQ(a.steps, b.steps);
  EXPECT_EQ(a.flush, b.flush);
  ASSERT_EQ(whole.actors.size(), static_cast<std::size_t>(input.world));
  for (const Actor& actor : whole.actors) {
    const auto rank = static_cast<std::size_t>(actor.rank);
    const auto representative = folded.classes.representative[rank];
    const auto twin = std::ranges::find(folded.actors, representative, &Actor::rank);
    ASSERT_NE(twin, folded.actors.end());
    const ItemId count = actor.steps.back() - actor.first;
    ASSERT_EQ(count, twin->steps.back() - twin->first);
    for (ItemId i = 0; i < count; ++i) {
      const RunInterval& mine = all.items()[actor.first + i];
      const RunInterval& theirs = one.items()[twin->first + i];
      ASSERT_EQ(mine.end, theirs.end)
          << "rank " << rank << ": " << describe(whole, actor.first + i);
      ASSERT_EQ(mine.begin, theirs.begin);
    }
  }
}

}  // namespace paceline::simulator
