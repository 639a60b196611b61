// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "paceline/validate/cell.h"

namespace paceline::validate {

/// A way in which a model departs from the others, or from one case to the
/// next, because cells asked for it: no number, but as good as one.
struct SwitchInfo {
  std::string_view name, what, source;
  Table table{};
};

/// All of them were chosen by looking at cells.
std::span<const SwitchInfo> switch_table();

/// How much of a table's models cells have decided.
struct Freedom {
  std::size_t constants = 0;  // fitted
  std::size_t numbers = 0;    // fixed
  std::size_t chosen = 0;     // of these, by looking at cells
  std::size_t switches = 0;
};
Freedom freedom_of(Table table);

/// "15 constants fitted, 3 of 15 fixed numbers and ...".
std::string in_words(const Freedom& freedom);

}  // namespace paceline::validate
