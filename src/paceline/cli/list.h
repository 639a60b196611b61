// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace paceline::cli {

/// What `paceline list` prints: every table that the program itself uses.
std::string list_text();

}  // namespace paceline::cli
