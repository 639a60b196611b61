// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "paceline/strategies/plan_words.h"
#include "paceline/strategies/rules.h"

namespace paceline::strategies {

/// A planner made of four parts, none of which knows another.
std::unique_ptr<Planner> make_composed(std::unique_ptr<ScheduleRule> schedule,
                                       std::unique_ptr<ExchangeRule> exchange,
                                       std::unique_ptr<CodecRule> codec,
                                       std::unique_ptr<UpdateRule> update);

}  // namespace paceline::strategies
