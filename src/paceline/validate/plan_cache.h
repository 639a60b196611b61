// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "paceline/plan/networks/network_shape.h"
#include "paceline/simulator/simulate.h"

namespace paceline::validate {

/// A plan and the ranks that it is for.
struct Case {
  std::unique_ptr<plan::Planner> planner;
  plan::PlanInput input;
  plan::Step steps = 3;
};

/// The network and how a device's time of `seconds`, its optimizer aside, is
/// spread over its layers.
struct TimedNetwork {
  plan::NetworkShape shape;
  plan::LayerProfile profile;
};
TimedNetwork timed_network(std::string_view name,
                           int batch_size,
                           double seconds);

/// A plan in words: it is made of nothing else.
struct PlanWords {
  const TimedNetwork* network = nullptr;  // outlives the cache
  int hosts = 1, local = 1;               // ranks of each host
  std::string strategy{};                 // as on the command line
  plan::Step steps = 3;

  auto operator<=>(const PlanWords&) const = default;
};

/// Compiles each plan once, and simulates it under any number of costs.
class PlanCache {
 public:
  /// Seconds of a step.
  double step_seconds(const PlanWords& words, const simulator::Costs& costs);

  /// Of a plan for which there are no words; `make` is called where `key` is
  /// new.
  double step_seconds(const std::string& key,
                      const std::function<Case()>& make,
                      const simulator::Costs& costs);

 private:
  struct Compiled {
    simulator::Job job;
    std::unique_ptr<simulator::Simulator> simulator;
  };
  using Entry = std::unique_ptr<Compiled>;

  static double run(Entry& entry,
                    const std::function<Case()>& make,
                    const simulator::Costs& costs);

  std::map<PlanWords, Entry> worded_;
  std::map<std::string, Entry> compiled_;
};

/// `hosts` hosts of `local` ranks each.
plan::PlanInput input_of(const TimedNetwork& network, int hosts, int local);

/// Rates that fits vary are rounded to whole bytes a second.
std::int64_t rate_of(double bytes_per_s);

}  // namespace paceline::validate
