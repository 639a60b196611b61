// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "paceline/plan/ranks_per_host.h"
#include "paceline/strategies/strategy.h"

namespace paceline::strategies {

/// The number of steps after which the work of `world` ranks on these hosts repeats, for any
/// network (plan::period_of_work).  Empty `hosts` stand for one host.  Returns 1 for a strategy
/// that an external command performs.  Throws UsageError if the strategy does not exist for these
/// ranks.
Step period_of(const StrategySpec& strategy, Rank world, const plan::RanksPerHost& hosts);

}  // namespace paceline::strategies
