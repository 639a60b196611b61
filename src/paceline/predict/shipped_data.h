// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace paceline::predict::shipped {

/// The files of data/ that are part of the program.
extern const std::string_view kEngineCosts, kErrorTable;

}  // namespace paceline::predict::shipped
