// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "paceline/strategies/strategy.h"

namespace paceline::strategies {

/// KEY=VALUE, as written.
using GivenOptions = std::vector<std::pair<std::string, std::string>>;

/// Every key of the row with its given or default value, numbers normalized.
/// Throws UsageError.
Options resolve(const RowInfo& row,
                const GivenOptions& given,
                const StrategyDefaults& defaults);

/// "name:key=value,...", without the values that RowInfo leaves implied.
std::string choice_text(const RowInfo& row, const Options& options);

}  // namespace paceline::strategies
