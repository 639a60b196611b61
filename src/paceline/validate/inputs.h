// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "paceline/validate/examinee.h"

// What each protocol may look at: all of it stands here.  Everything else is
// predicted, and only that is scored.

namespace paceline::validate {

/// A published number that a model is given.
struct InputRule {
  Table table{};
  std::string_view what;
};

/// Inputs of the models, under every protocol; is_input() and this list say the
/// same, which a test compares.
std::span<const InputRule> input_rules();

/// Row ids of the cells that protocol "new network" looks at, three of each
/// network at most: one fused all-reduce on 8 devices, and the parameter
/// server on 8 and 16.  It scores none of them.
std::span<const std::string_view> shown_cells();
bool shown_of_new_network(const Cell& cell);

/// Constants that only a network's own cells can tell.
std::vector<Constant> own_constants(std::string_view network);

/// Cells that may be fitted to and scored: published, no inputs, nothing that
/// contradicts physics, no run that stands in a table twice.
std::vector<const Cell*> scorable(const std::vector<Cell>& cells, Table table);

}  // namespace paceline::validate
