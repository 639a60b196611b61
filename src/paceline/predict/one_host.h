// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "paceline/plan/plan_input.h"
#include "paceline/records/run_record.h"
#include "paceline/strategies/strategy.h"

namespace paceline::predict {

/// Warns if the strategy exchanges between hosts but all ranks that do work are on one host.  The
/// warning says which part of its plan remains, and how to get several hosts.  The strategy must
/// accept the input.
std::optional<records::Warning> one_host_warning(const strategies::StrategySpec& strategy,
                                                 const plan::PlanInput& input);

/// Warns if the strategy has a codec but its world is one rank, so that nothing is encoded.
std::optional<records::Warning> idle_codec_warning(const strategies::StrategySpec& strategy,
                                                   plan::Rank world);

}  // namespace paceline::predict
