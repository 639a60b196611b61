// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "paceline/strategies/strategy.h"

// Which parts of a strategy go together.

namespace paceline::strategies {

/// Whether the codec carries parameters, not gradients.
bool codes_parameters(const StrategySpec& spec);

/// Whether its update rule divides by the learning rate.
bool divides_by_rate(const StrategySpec& spec);

/// Refuses combinations of parts that the mathematics forbids: throws
/// UsageError, which says the rule and what to take.
void check_combination(const StrategySpec& spec);

}  // namespace paceline::strategies
