// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "paceline/validate/cell.h"

namespace paceline::validate {

/// What a cross-validation leaves out together: cells of one group; those
/// without a group are never left out.
struct Leaving {
  std::string what;
  std::function<std::string(const Cell&)> group;
};

/// Every cross-validation of a table.
std::vector<Leaving> leavings_of(Table table);

}  // namespace paceline::validate
