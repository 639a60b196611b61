// SPDX-License-Identifier: Apache-2.0
#include "paceline/strategies/strategy_period.h"

#include "paceline/plan/period.h"
#include "paceline/strategies/smallest_job.h"

namespace paceline::strategies {
namespace {

/// As many buckets as any strategy takes apart.
constexpr int kLayers = 8;

/// The strategy in a bucket a tensor: schedules do not say in which steps ranks exchange, and some
/// want times to make their buckets.
StrategySpec by_tensor(StrategySpec strategy) {
  if (strategy.schedule.row != nullptr) {
    strategy.schedule = parse_strategy("wfbp").schedule;
  }
  return strategy;
}

}  // namespace

Step period_of(const StrategySpec& strategy, Rank world, const plan::RanksPerHost& hosts) {
  if (strategy.external()) {
    return 1;
  }
  PlanInput input = smallest_job(world, kLayers);
  input.local_world = hosts;
  return plan::period_of_work(*make_planner(by_tensor(strategy)), input);
}

}  // namespace paceline::strategies
