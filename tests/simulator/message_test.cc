// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <variant>

#include <gtest/gtest.h>

#include "paceline/base/error.h"
#include "paceline/plan/int128.h"
#include "paceline/plan/plan_world.h"
#include "paceline/plan/verify.h"
#include "paceline/strategies/strategy.h"
#include "simulator/agree.h"
#include "simulator/message_plans.h"
#include "simulator/toy.h"

namespace paceline::simulator {
namespace {

constexpr plan::Picoseconds kTensor = 1'000'000;  // 1000 bytes at 1 byte per ns
constexpr plan::Picoseconds kModel = 1'024'000;   // one tensor with its padding

plan::PlanInput on_hosts(int layers, plan::Rank world, plan::Rank local) {
  auto input = toy_input(layers, world);
  input.local_world = hosts_of(world, local);
  return input;
}

TEST(Messages, AreWellFormedPlans) {
  plan::verify(Neighbors({1, 2}), toy_input(2, 5));
  plan::verify(Neighbors({1, -1}), toy_input(2, 4));
  plan::verify(OnePeer(), toy_input(2, 8));
  plan::verify(Servers(2), toy_input(3, 5));
}

TEST(Messages, ANeighborIsOneMessageAway) {
  const auto input = on_hosts(1, 4, 1);
  Costs costs = toy_costs(input);
  costs.machine.network.latency = 7 * kUs;
  EXPECT_EQ(simulate(Neighbors({1}), input, costs).step, 30 * kUs + 7 * kUs + kModel);
}

// Two messages leave and enter each card at once.
TEST(Messages, ShareTheCardOfARank) {
  const auto input = on_hosts(1, 5, 1);
  EXPECT_EQ(simulate(Neighbors({1, 2}), input, toy_costs(input)).step, 30 * kUs + 2 * kModel);
}

/// Neighbors at 1 and 2, each in an exchange of its own, issued as it is ready; the second one is
/// the more urgent.
class TwoExchanges final : public plan::Planner {
 public:
  plan::Setup setup(const plan::PlanInput& input) const override {
    plan::Setup setup = together_.setup(input);
    setup.communicators.front().order = plan::IssueOrder::kAsReady;
    return setup;
  }
  plan::Variant variant(const plan::PlanInput&, plan::Step) const override { return 0; }
  plan::CommPlan plan(const plan::PlanInput& input, const plan::Setup& setup,
                      plan::Variant variant) const override {
    plan::CommPlan plan = together_.plan(input, setup, variant);
    const auto both = std::ranges::find_if(plan.ops, [](const plan::Op& op) {
      return std::holds_alternative<plan::Exchange>(op.work);
    });
    plan::Op first = *both;
    first.priority = 1;
    auto& nearer = std::get<plan::Exchange>(first.work);
    nearer.sends.pop_back();
    nearer.receives.pop_back();
    auto& farther = std::get<plan::Exchange>(both->work);
    farther.sends.erase(farther.sends.begin());
    farther.receives.erase(farther.receives.begin());
    plan.ops.insert(both, first);
    return plan;
  }

 private:
  Neighbors together_{{1, 2}};
};

// As on NCCL: in program order, and one after the other.
TEST(Messages, TakeTurnsInOneIssueOrder) {
  const auto input = on_hosts(1, 5, 1);
  Costs costs = toy_costs(input);
  costs.machine.network.latency = 7 * kUs;
  EXPECT_EQ(simulate(TwoExchanges(), input, costs).step, 30 * kUs + 7 * kUs + 2 * kModel);
  costs.software.one_issue_order = true;
  EXPECT_EQ(simulate(TwoExchanges(), input, costs).step, 30 * kUs + 2 * (7 * kUs + kModel));
}

// Of four ranks on a host that send to the next one, one leaves the host; at distance 4 all do, and
// share the host's card.
TEST(Messages, ShareTheCardOfAHost) {
  const auto input = on_hosts(1, 16, 4);
  Costs costs = toy_costs(input);
  costs.machine.network.sharing = cluster::LinkSharing::kHost;
  EXPECT_EQ(simulate(Neighbors({1}), input, costs).step, 30 * kUs + kModel);
  EXPECT_EQ(simulate(Neighbors({4}), input, costs).step, 30 * kUs + 4 * kModel);
}

// A half-duplex card carries what is sent and what is received.
TEST(Messages, ShareAHalfDuplexLink) {
  const auto input = on_hosts(1, 4, 1);
  Costs costs = toy_costs(input);
  costs.machine.network.full_duplex = false;
  EXPECT_EQ(simulate(Neighbors({1}), input, costs).step, 30 * kUs + 2 * kModel);
}

// One connection may reach less than the card: a fit of messages limits each flow, holds its
// latency and what software costs, and is read whatever the algorithm of collectives.
TEST(Messages, AFitLimitsEachFlow) {
  const auto input = on_hosts(1, 16, 4);
  Costs costs = toy_costs(input);
  costs.machine.network.sharing = cluster::LinkSharing::kHost;
  costs.machine.network.latency = 7 * kUs;
  costs.software.message = kUs;
  costs.machine.fits = {{.operation = "message",
                         .ranks = 2,
                         .line = {{{.alpha = 3 * kUs, .beta_ps_per_byte = 2000}}},
                         .error_percent = {}}};
  EXPECT_EQ(simulate(Neighbors({1}), input, costs).step, 30 * kUs + 3 * kUs + 2 * kModel);
  // Four flows at half the card's rate: the card is what limits them.
  EXPECT_EQ(simulate(Neighbors({4}), input, costs).step, 30 * kUs + 3 * kUs + 4 * kModel);
}

TEST(Messages, OnePeerRepeatsWithItsPeriod) {
  const auto input = on_hosts(1, 8, 1);
  const StepTimes times = simulate(OnePeer(), input, toy_costs(input), {.steps = 12});
  EXPECT_TRUE(times.steady);
  EXPECT_EQ(times.step, 30 * kUs + kModel);
}

// Three workers push one tensor to one server: its card takes them at a third of its rate each, and
// so back.  A third of 10^9 bytes/s is not whole: each way is a picosecond longer.
TEST(Messages, AServersCardIsTheBottleneck) {
  const auto input = on_hosts(1, 4, 1);
  EXPECT_EQ(simulate(Servers(1), input, toy_costs(input)).step, 30 * kUs + 2 * (3 * kTensor + 1));
}

// On one host a server has its host's memory, or a link as every rank.
TEST(Messages, AServersDeviceLinkIsTheBottleneckWhereItHasOne) {
  const auto input = on_hosts(1, 4, 4);
  Costs costs = toy_costs(input);
  EXPECT_EQ(simulate(Servers(1), input, costs).step, 30 * kUs + 2 * kTensor);
  costs.machine.servers_have_links = true;
  EXPECT_EQ(simulate(Servers(1), input, costs).step, 30 * kUs + 2 * (3 * kTensor + 1));
}

// Two layers on two servers: the first is pushed under the backward of the second; what is pulled
// comes from both, and the worker's card takes 2
// tensors while each server's gives 3.
TEST(Messages, ServersWorkSideBySide) {
  const auto input = on_hosts(2, 5, 1);
  EXPECT_EQ(simulate(Servers(2), input, toy_costs(input)).step, 60 * kUs + 2 * (3 * kTensor + 1));
}

// Three workers push and pull a tensor, each at a sixth of a card's rate; half the server's card is
// idle.
TEST(Messages, AreCopiedWhereARankComputes) {
  const auto input = on_hosts(1, 4, 1);
  Costs costs = toy_costs(input);
  const std::int64_t sixth = costs.machine.network.bytes_per_s / 6;
  costs.machine.copies_bytes_per_s = sixth;
  EXPECT_EQ(simulate(Servers(1), input, costs).step, 30 * kUs + 2 * plan::wire_time(1000, sixth));
}

// What a host copies is what it sends and what it receives; a card carries
// both at once, and one way alone no more than its rate.
TEST(Messages, AreCopiedBothWaysTogether) {
  const auto input = on_hosts(1, 4, 1);
  Costs costs = toy_costs(input);
  const std::int64_t card = costs.machine.network.bytes_per_s;
  const auto step_at = [&](std::int64_t copied) {
    costs.machine.copies_bytes_per_s = copied;
    return simulate(Neighbors({1}), input, costs).step - 30 * kUs;
  };
  EXPECT_EQ(step_at(0), kModel);
  EXPECT_EQ(step_at(2 * card), kModel);
  EXPECT_EQ(step_at(card), 2 * kModel);
  EXPECT_EQ(step_at(card / 2), 4 * kModel);
}

TEST(Messages, AloneAreCopied) {
  const auto input = on_hosts(1, 4, 1);
  const auto planner = strategies::make_planner(strategies::parse_strategy("bsp"));
  Costs costs = toy_costs(input);
  const plan::Picoseconds step = simulate(*planner, input, costs).step;
  costs.machine.copies_bytes_per_s = 1000;
  EXPECT_EQ(simulate(*planner, input, costs).step, step);
}

TEST(Messages, RejectARateOfCopiesThatCannotBe) {
  const auto input = on_hosts(1, 4, 1);
  Costs costs = toy_costs(input);
  for (const std::int64_t rate : {std::int64_t{-1}, cluster::kMostBytesPerSecond + 1}) {
    costs.machine.copies_bytes_per_s = rate;
    EXPECT_THROW(simulate(Neighbors({1}), input, costs), UsageError) << rate;
  }
}

TEST(Messages, CrossedReceivesNameEachOther) {
  const auto input = toy_input(1, 2);
  try {
    simulate(Crossed(), input, toy_costs(input), {.fold = false});
    FAIL() << "nothing can move";
  } catch (const plan::PlanError& error) {
    EXPECT_EQ(std::string(error.what()),
              "ops wait for each other: rank 0, step 0, op 2: exchange, 1.0 kB box0 < rank 1, on "
              "world, 2 ranks; waits for rank 1, step 0, op 3: exchange, 1.0 kB values "
              "layer0.weight > rank 0, on world, 2 ranks; waits for rank 1, step 0, op 2: "
              "exchange, 1.0 kB box0 < rank 0, on world, 2 ranks; waits for rank 0, step 0, op 3: "
              "exchange, 1.0 kB values layer0.weight > rank 1, on world, 2 ranks; waits for rank "
              "0, step 0, op 2: exchange, 1.0 kB box0 < rank 1, on world, 2 ranks");
  }
}

TEST(Messages, FoldExactly) {
  for (const plan::Rank world : {2, 3, 4, 5, 8, 13, 16, 24}) {
    for (const plan::Rank local : {1, 4, 64}) {
      for (const cluster::LinkSharing sharing :
           {cluster::LinkSharing::kHost, cluster::LinkSharing::kDevice}) {
        SCOPED_TRACE(testing::Message() << world << " ranks, " << local << " on a host, sharing "
                                        << static_cast<int>(sharing));
        const auto input = on_hosts(3, world, local);
        Costs costs = rough_costs(input);
        costs.machine.network.sharing = sharing;
        costs.machine.network.full_duplex = local != 4;
        costs.machine.copies_bytes_per_s = local == 64 ? 0 : costs.machine.network.bytes_per_s;
        {
          SCOPED_TRACE("neighbors");
          expect_equal(Neighbors({1}), input, costs);
          expect_equal(Neighbors({1, -1}), input, costs);
          expect_equal(Neighbors({1, 3, 4}), input, costs);
          expect_equal(OnePeer(), input, costs);
        }
        SCOPED_TRACE("servers");
        if (world > 2) {
          expect_equal(Servers(1), input, costs);
          expect_equal(Servers(2), input, costs);
          expect_equal(Servers(world / 2), input, costs);
        }
        if (testing::Test::HasFailure()) {
          return;
        }
      }
    }
  }
}

}  // namespace
}  // namespace paceline::simulator
