// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "paceline/strategies/strategy.h"

namespace paceline::strategies {

/// The option's value in its canonical form.  `where` names it in messages,
/// row:key.  Throws UsageError.
std::string parse_option(const OptionInfo& option,
                         const std::string& where,
                         const std::string& text);

}  // namespace paceline::strategies
