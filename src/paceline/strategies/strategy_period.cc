// SPDX-License-Identifier: Apache-2.0
#include "paceline/strategies/strategy_period.h"

#include "paceline/plan/period.h"
#include "paceline/strategies/smallest_job.h"

namespace paceline::strategies {
namespace {

/// The number of layers of the network by which periods are determined. With so many layers every
/// strategy has all its kinds of buckets.
constexpr int kLayers = 8;

/// The strategy with one bucket per tensor.  The schedule does not change the steps in which ranks
/// exchange, and some schedules need times to make their buckets.
StrategySpec with_bucket_per_tensor(StrategySpec strategy) {
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
  return plan::period_of_work(*make_planner(with_bucket_per_tensor(strategy)), input);
}

}  // namespace paceline::strategies
