// SPDX-License-Identifier: Apache-2.0
#include "paceline/rank/replay.h"

#include <string>
#include <utility>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "paceline/plan/program.h"
#include "paceline/strategies/strategy.h"

namespace paceline::rank {
namespace {

constexpr const char* kProfile = R"({"paceline_profile": 1, "model": "two",
 "batch_size": 1, "update_us": 12,
 "modules": [{"name": "a", "forward_us": 1}, {"name": "b", "forward_us": 2}],
 "parameters": [
  {"name": "a.w", "sizes": [4], "module": "a", "backward_us": 3},
  {"name": "b.w", "sizes": [4], "module": "b", "backward_us": 4},
  {"name": "b.b", "sizes": [4], "module": "b", "backward_us": 5}],
 "ready_order": ["b.b", "b.w", "a.w"]})";

/// A clock that moves when slept on, and a log of what happened when.
struct ReplayedNetwork final : networks::Gates {
  std::int64_t now = 1'000'000;
  std::int64_t late_ns = 0;       // of every timer
  std::int64_t call_ns = 0;       // that every event takes
  std::int64_t gate_ns = 0;       // that module b's gate takes to open
  std::int64_t gate_wait_ns = 0;  // at gates
  std::vector<std::string> log;

  ReplayClock clock() {
    return {.now_ns = [this] { return now; },
            .sleep_until_ns = [this](std::int64_t until) { now = until + late_ns; }};
  }
  void note(const std::string& what, int id) {
    now += call_ns;
    log.push_back(fmt::format("{} {} {}", now - 1'000'000, what, id));
  }
  void enter(plan::ModuleId m) override {
    const std::int64_t stands = m == plan::ModuleId{1} ? gate_ns : 0;
    now += stands;
    gate_wait_ns += stands;
    note("enter", static_cast<int>(m));
  }
  void leave(plan::ModuleId m) override { note("leave", static_cast<int>(m)); }
  bool gates_backward(plan::ModuleId m) const override { return m == plan::ModuleId{0}; }
  void enter_backward(plan::ModuleId m) override { note("gate", static_cast<int>(m)); }
  ReplayCallbacks events() {
    return {.gates = *this,
            .ready = [this](plan::ParameterId p) { note("ready", static_cast<int>(p)); },
            .gate_wait_ns = [this] { return gate_wait_ns; }};
  }
  Replay replay(double stretch = 1) {
    return {cluster::parse_profile(kProfile, "p"), stretch, clock()};
  }
};

using Log = std::vector<std::string>;

TEST(Replay, TellsWhatTheNetworkWouldHaveToldAtItsTimes) {
  ReplayedNetwork replayed;
  Replay replay = replayed.replay();
  replay.forward(replayed.events());
  EXPECT_EQ(replayed.log, (Log{"0 enter 0", "1000 leave 0", "1000 enter 1", "3000 leave 1"}));
  replayed.log.clear();
  replay.backward(replayed.events());
  EXPECT_EQ(replayed.log, (Log{"8000 ready 2", "12000 ready 1", "12000 gate 0", "15000 ready 0"}));
}

TEST(Replay, StretchesEveryLayerAlike) {
  ReplayedNetwork replayed;
  Replay replay = replayed.replay(10);
  replay.forward(replayed.events());
  EXPECT_EQ(replayed.log.back(), "30000 leave 1");
}

TEST(Replay, AWaitAtAGateDelaysAllThatFollows) {
  ReplayedNetwork replayed;
  replayed.gate_ns = 500;
  Replay replay = replayed.replay();
  replay.forward(replayed.events());
  replay.backward(replayed.events());
  EXPECT_EQ(replayed.log.back(), "15500 ready 0");
}

TEST(Replay, LateTimersAndSlowCallsDoNotAddUp) {
  ReplayedNetwork replayed;
  replayed.late_ns = 100;
  replayed.call_ns = 30;
  Replay replay = replayed.replay();
  for (int step = 0; step < 10; ++step) {
    replay.forward(replayed.events());
    replay.backward(replayed.events());
  }
  EXPECT_EQ(replayed.log.back(), "150130 ready 0");
}

TEST(Replay, AnInterruptionIsNotCaughtUp) {
  ReplayedNetwork replayed;
  Replay replay = replayed.replay();
  replay.forward(replayed.events());
  replayed.now += 1'000'000;
  replay.interrupt();
  replay.backward(replayed.events());
  EXPECT_EQ(replayed.log.back(), "1015000 ready 0");
}

TEST(Replay, AnUpdateTakesItsShareOfTheRecordedOne) {
  ReplayedNetwork replayed;
  const Replay replay = replayed.replay(2);
  plan::Kernel kernel;
  kernel.name = "update";
  kernel.writes = {{plan::Slice{plan::BufferId{0}, 0, 3}}};
  EXPECT_EQ(replay.kernel_time(kernel), std::chrono::nanoseconds(6000));
  kernel.name = "copy";
  EXPECT_FALSE(replay.kernel_time(kernel).has_value());
}

// Bytes that a replay of `strategy` writes on a rank of two, and those of the gradients.
std::pair<std::int64_t, std::int64_t> written_by(const std::string& strategy) {
  plan::PlanInput input;
  input.model = cluster::parse_profile(kProfile, "p").model;
  input.world = 2;
  const auto planner = strategies::make_planner(strategies::parse_strategy(strategy));
  const plan::Setup setup = planner->setup(input);
  const plan::BufferId gradients = plan::buffer_named(setup, plan::kGradients);
  return {replay_written_bytes(*planner, input),
          4 * setup.buffers[plan::index_of(gradients)].elements};
}

TEST(Replay, WritesNeitherParametersNorTheOptimizersState) {
  const auto [alone, none] = written_by("none");
  EXPECT_EQ(alone, 0);
  const auto [summed, gradients] = written_by("bsp");
  EXPECT_EQ(summed, gradients);
  // The copy that is averaged, then the parameters.
  const auto [averaged, values] = written_by("bsp+parameter-allreduce+local-sgd:every=1");
  EXPECT_EQ(averaged, 2 * values);
}

TEST(Replay, WritesGradientsThatAreCoded) {
  const auto [coded, gradients] = written_by("bsp+topk:density=1");
  // The gradients, the residual, values and places of both ranks.
  EXPECT_EQ(coded, 2 * gradients + (1 + 2) * 12 * 8);
}

TEST(Replay, TheRealClockSleepsAsLong) {
  const ReplayClock clock = real_replay_clock();
  const std::int64_t until = clock.now_ns() + 5'000'000;
  clock.sleep_until_ns(until);
  EXPECT_GE(clock.now_ns(), until);
}

}  // namespace
}  // namespace paceline::rank
