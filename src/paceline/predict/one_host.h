// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "paceline/plan/plan_input.h"
#include "paceline/records/run_record.h"
#include "paceline/strategies/strategy.h"

namespace paceline::predict {

/// Where the strategy exchanges between hosts and all ranks that work are on one: what is left of
/// its plan, and how to have several hosts.  For an input that the strategy accepts.
std::optional<records::Warning> one_host_warning(const strategies::StrategySpec& strategy,
                                                 const plan::PlanInput& input);

/// Where the strategy has a codec and its world is one rank: nothing is encoded.
std::optional<records::Warning> idle_codec_warning(const strategies::StrategySpec& strategy,
                                                   plan::Rank world);

}  // namespace paceline::predict
