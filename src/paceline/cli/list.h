// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace paceline::cli {

/// What `paceline list` prints: the table called `name`, or all tables for an empty name. The
/// tables are those that the program itself uses: strategies, topologies, models, engines,
/// optimizers, experiments, formats, frameworks. Throws UsageError for any other name.
std::string list_text(std::string_view name = "");

}  // namespace paceline::cli
