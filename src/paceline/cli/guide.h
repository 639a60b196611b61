// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

namespace paceline::cli {

/// What bare `paceline` prints: the five commands to go on with, and the names
/// of all others among `commands`.
std::string guide(std::span<const std::string> commands);

}  // namespace paceline::cli
