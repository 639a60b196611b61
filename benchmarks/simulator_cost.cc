// SPDX-License-Identifier: Apache-2.0
// simulator_cost: how fast plans are priced.  Events a second of unfolded
// ranks beside a loop that only fills and drains the event queue, a million folded ranks, one cell
// of a fit, and closed forms.
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "paceline/predict/predict.h"
#include "paceline/predict/roofline.h"
#include "paceline/simulator/event_queue.h"
#include "paceline/strategies/strategy.h"

namespace {

using namespace paceline;  // NOLINT: a program of one file

constexpr int kRounds = 5;
constexpr std::clock_t kRound = CLOCKS_PER_SEC / 50;

// Processor time of one run in seconds, in the quickest of some rounds: other programs on the
// machine do not count.
template <class Body>
double shortest_s(Body body) {
  double best = 1e9;
  for (int i = 0; i < kRounds; ++i) {
    const std::clock_t began = std::clock();
    std::clock_t passed = 0;
    int runs = 0;
    while (passed < kRound) {
      body();
      ++runs;
      passed = std::clock() - began;
    }
    best = std::min(best, static_cast<double>(passed) / CLOCKS_PER_SEC / runs);
  }
  return best;
}

// Pushes and pops `events` events with `waiting` of them in the queue.
double empty_loop_s(std::uint64_t events, std::size_t waiting) {
  std::uint64_t sum = 0;
  const double seconds = shortest_s([&] {
    simulator::EventQueue queue;
    std::uint64_t state = 1;
    for (std::size_t i = 0; i < waiting; ++i) {
      queue.push(static_cast<plan::Picoseconds>(i), {}, 0);
    }
    for (std::uint64_t i = 0; i < events; ++i) {
      const simulator::Event event = queue.pop();
      state = state * 6364136223846793005U + 1442695040888963407U;
      queue.push(event.time + static_cast<plan::Picoseconds>(state >> 44U), {}, 0);
      sum += event.sequence;
    }
  });
  return sum == 0 ? 0 : seconds;
}

plan::PlanInput input_of(const plan::NetworkShape& network, plan::Rank world, plan::Rank local) {
  plan::PlanInput input;
  input.model = network.model;
  input.profile = predict::roofline_profile(network, 64);
  input.world = world;
  input.local_world.add(world / local, local);
  return input;
}

simulator::Costs costs_of(const plan::NetworkShape& network) {
  simulator::Costs costs;
  costs.profile = predict::roofline_profile(network, 64);
  costs.machine.network.sharing = cluster::LinkSharing::kHost;
  return costs;
}

void unfolded(const std::string& strategy, plan::Rank world) {
  const auto network = plan::network_shape("resnet50");
  const auto planner = strategies::make_planner(strategies::parse_strategy(strategy));
  const simulator::Job job =
      simulator::compile(*planner, input_of(network, world, 4), {.steps = 6, .fold = false});
  const simulator::Costs costs = costs_of(network);
  simulator::Simulator simulator(job);
  simulator::StepTimes times;
  const double seconds = shortest_s([&] { times = simulator.run(costs); });
  const double empty = empty_loop_s(times.events, static_cast<std::size_t>(world));
  fmt::print(
      "{:24} {:5} ranks unfolded: {:9} events, {:6.2f} M/s; empty queue {:6.2f} M/s, ratio "
      "{:.2f}\n",
      strategy, world, times.events, static_cast<double>(times.events) / seconds * 1e-6,
      static_cast<double>(times.events) / empty * 1e-6, empty / seconds);
}

// Ranks on hosts of 4, two of the planner's periods of steps at least.
void folded(const std::string& strategy, plan::Rank world) {
  const auto network = plan::network_shape("resnet50");
  const auto planner = strategies::make_planner(strategies::parse_strategy(strategy));
  const plan::PlanInput input = input_of(network, world, 4);
  const simulator::Costs costs = costs_of(network);
  std::size_t actors = 0;
  const double seconds = shortest_s([&] {
    const plan::Step period = simulator::period_of(*planner, input);
    const simulator::Job job =
        simulator::compile(*planner, input, {.steps = std::max<plan::Step>(8, 2 * period + 2)});
    actors = job.actors.size();
    simulator::Simulator(job).run(costs);
  });
  fmt::print("{:57} {:7} ranks folded to {}: {:.3f} s with planning\n", strategy, world, actors,
             seconds);
}

void one_cell(const std::string& strategy, const std::string& model) {
  const auto network = plan::network_shape(model);
  const auto planner = strategies::make_planner(strategies::parse_strategy(strategy));
  const simulator::Job job = simulator::compile(*planner, input_of(network, 32, 4));
  const simulator::Costs costs = costs_of(network);
  simulator::Simulator simulator(job);
  simulator::StepTimes times;
  const double seconds = shortest_s([&] { times = simulator.run(costs); });
  fmt::print("{:24} {:10} 32 ranks folded: {:.3f} ms a run, {} events\n", strategy, model,
             seconds * 1e3, times.events);
}

void closed_forms() {
  const cluster::Machine machine;
  constexpr int kCount = 1'000'000;
  plan::Picoseconds sum = 0;
  const double seconds = shortest_s([&] {
    for (int i = 0; i < kCount; ++i) {
      const cluster::Group group{2 + i % 1000, 1 + i % 100, 8};
      sum += cluster::alone(cluster::collective_cost(
                                {plan::Pattern::kAllReduce, std::int64_t{4} * i, group}, machine),
                            group, machine);
    }
  });
  fmt::print("closed forms: {:.0f} configurations/s{}\n", kCount / seconds, sum == 0 ? "!" : "");
}

}  // namespace

int main() {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);  // NOLINT
  for (const char* strategy : {"bsp", "wfbp", "wfbp+ps", "dear"}) {
    one_cell(strategy, "resnet50");
  }
  one_cell("wfbp", "bert-large");
  closed_forms();
  for (const plan::Rank world : {4, 64, 256}) {
    unfolded("wfbp", world);
  }
  unfolded("fusion", 64);
  unfolded("wfbp+neighbor-allreduce+atc", 64);
  unfolded("wfbp+ps", 16);
  for (const char* strategy :
       {"wfbp", "fusion+hierarchical", "wfbp+hierarchical",
        "fusion+neighbor-allreduce:topology=ring+atc", "fusion+neighbor-allreduce:topology=exp+atc",
        "fusion+neighbor-allreduce+atc", "wfbp+neighbor-allreduce+atc",
        "fusion+neighbor-allreduce:topology=inner-outer-exp+atc",
        "fusion+hierarchical-neighbor-allreduce+atc",
        "fusion+hierarchical-neighbor-allreduce:style=leader+atc"}) {
    folded(strategy, 1'000'000);
  }
  return 0;
}
