// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace paceline::cli {

/// What bare `paceline` prints: the next commands.
std::string guide();

}  // namespace paceline::cli
