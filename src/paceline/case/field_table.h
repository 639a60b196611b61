// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "paceline/case/field.h"

// The tables behind case/field.h. To add a field, add a member to a part of the case or to the
// settings, and a row to its table.

namespace paceline::cases {

std::span<const Field> case_fields();
std::span<const Field> settings_fields();

}  // namespace paceline::cases
