// SPDX-License-Identifier: Apache-2.0
#include "paceline/case/window.h"

#include <numeric>

#include "paceline/base/error.h"
#include "paceline/case/outside.h"
#include "paceline/plan/ranks_per_host.h"
#include "paceline/strategies/strategy_period.h"

namespace paceline::cases {
namespace {

/// Beside embedding tables the strategy is one of the trainers.
plan::Step period_of(const Case& c) {
  const int world = c.has_tables() ? c.trainers : c.ranks;
  const plan::RanksPerHost hosts(
      c.ranks_per_host.empty() ? std::vector<int>{} : plan::fill_hosts(world, c.ranks_per_host));
  plan::Step period = 1;
  try {
    period = strategies::period_of(strategies::strategy_of(c), world, hosts);
  } catch (const UsageError&) {
    return 1;  // a case that cannot be: its ranks say why
  }
  return c.average_buffers > 0 ? std::lcm(period, static_cast<plan::Step>(c.average_buffers))
                               : period;
}

int whole_periods(int steps, plan::Step period) {
  return static_cast<int>((steps + period - 1) / period * period);
}

}  // namespace

void take_whole_periods(Case& c, const GivenSteps& given) {
  if ((given.warmup && given.measured) || is_outside(c)) {
    return;
  }
  const plan::Step period = period_of(c);
  if (!given.warmup) {
    c.warmup = whole_periods(c.warmup, period);
  }
  if (!given.measured) {
    c.steps = whole_periods(c.steps, period);
  }
}

}  // namespace paceline::cases
