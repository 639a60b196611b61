// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "paceline/plan/ranks_per_host.h"
#include "paceline/strategies/strategy.h"

namespace paceline::strategies {

/// After how many steps the work of `world` ranks on these hosts repeats, whatever they train
/// (plan::period_of_work); none: one host.  1 of a strategy that a command outside performs.
/// Throws UsageError where the strategy does not exist for them.
Step period_of(const StrategySpec& strategy, Rank world, const plan::RanksPerHost& hosts);

}  // namespace paceline::strategies
