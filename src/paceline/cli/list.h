// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace paceline::cli {

/// What `paceline list` prints: every table that the program itself uses, or the one that is named:
/// strategies, topologies, models, engines, experiments, formats, frameworks.  Throws UsageError
/// for any other name.
std::string list_text(std::string_view name = "");

}  // namespace paceline::cli
