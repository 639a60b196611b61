// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace paceline::strategies {

/// The tables of strategies as Markdown, for docs/strategies.md.
std::string strategy_markdown();

}  // namespace paceline::strategies
