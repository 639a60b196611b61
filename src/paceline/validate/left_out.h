// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "paceline/validate/cell.h"

namespace paceline::validate {

/// The name of the cells that a cell belongs with; empty: none.
using Grouping = std::function<std::string(const Cell&)>;

/// Rows that are one experiment on several worlds: they are off alike.
std::string series_of(const Cell& cell);

/// What a cross-validation leaves out together: cells of one group; those
/// without a group are never left out.
struct Leaving {
  std::string what;
  Grouping group;
};

/// Every cross-validation of a table.
std::vector<Leaving> leavings_of(Table table);

}  // namespace paceline::validate
