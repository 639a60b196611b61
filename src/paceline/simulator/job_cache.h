// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <string>

#include "paceline/simulator/job.h"
#include "paceline/strategies/strategy.h"

namespace paceline::simulator {

/// A cache of the compiled jobs of recent requests.  Two requests share a job if their strategy,
/// network, hosts and number of steps are equal, whatever the links, the engine and the device,
/// since a job contains no costs.  A strategy that plans by times (strategies::needs_times) is
/// compiled for each request.
class JobCache {
 public:
  /// Returns the job of an earlier call with equal arguments, or compiles a new one.  Throws the
  /// errors of compile().
  std::shared_ptr<const Job> compiled(const strategies::StrategySpec& strategy,
                                      const plan::PlanInput& input, const JobOptions& options);

  /// Returns how many calls of compiled() found the job of an earlier call.
  std::int64_t reused() const { return reused_; }

 private:
  struct Entry {
    std::string strategy;
    std::shared_ptr<const Job> job;
  };

  void drop_oldest();

  std::list<Entry> entries_;  // the most recently used one first
  std::int64_t reused_ = 0;
};

}  // namespace paceline::simulator
