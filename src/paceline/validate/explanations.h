// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "paceline/validate/cell.h"

namespace paceline::validate {

/// Why a cell is predicted badly, or "not explained".
std::string_view explanation_of(const Cell& cell);

}  // namespace paceline::validate
