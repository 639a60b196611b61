// SPDX-License-Identifier: Apache-2.0
#include "paceline/validate/plan_cache.h"

#include <algorithm>
#include <cmath>

#include "paceline/predict/roofline.h"
#include "paceline/strategies/strategy.h"
#include "paceline/validate/fixed.h"

namespace paceline::validate {

double PlanCache::step_seconds(const PlanWords& words,
                               const simulator::Costs& costs) {
  const auto make = [&] {
    Case one;
    one.input = input_of(*words.network, words.hosts, words.local);
    one.planner =
        strategies::make_planner(strategies::parse_strategy(words.strategy));
    one.steps = words.steps;
    return one;
  };
  return run(worded_[words], make, costs);
}

double PlanCache::step_seconds(const std::string& key,
                               const std::function<Case()>& make,
                               const simulator::Costs& costs) {
  return run(compiled_[key], make, costs);
}

double PlanCache::run(Entry& entry,
                      const std::function<Case()>& make,
                      const simulator::Costs& costs) {
  if (entry == nullptr) {
    const Case one = make();
    auto fresh = std::make_unique<Compiled>();
    fresh->job =
        simulator::compile(*one.planner, one.input, {.steps = one.steps});
    fresh->simulator = std::make_unique<simulator::Simulator>(fresh->job);
    entry = std::move(fresh);
  }
  return plan::seconds_of(entry->simulator->run(costs).step);
}

TimedNetwork timed_network(std::string_view name,
                           int batch_size,
                           double seconds) {
  TimedNetwork network;
  network.shape = plan::network_shape(name);
  network.profile = predict::stretched(
      predict::roofline_profile(network.shape,
                                batch_size,
                                {.flops_per_s = kFlops,
                                 .memory_bytes_per_s = kMemoryRate,
                                 .backward = kBackward,
                                 .winograd = kWinograd,
                                 .strided = kStrided}),
      plan::picoseconds_of(seconds));
  return network;
}

plan::PlanInput input_of(const TimedNetwork& network, int hosts, int local) {
  plan::PlanInput input;
  input.model = network.shape.model;
  input.optimizer = {.name = "sgd", .state_buffers = 0};
  input.world = hosts * local;
  input.local_world.add(hosts, local);
  input.profile = network.profile;
  return input;
}

std::int64_t rate_of(double bytes_per_s) {
  return std::max<std::int64_t>(1, std::llround(bytes_per_s));
}

}  // namespace paceline::validate
