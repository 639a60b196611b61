// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "paceline/validate/examinee.h"

// What each protocol may look at.  Everything else is predicted, and only that
// is scored.

namespace paceline::validate {

/// A published number that a model is given.
struct InputRule {
  Table table{};
  std::string_view what;
};

/// All of them; is_input() and this list say the same, which a test compares.
std::span<const InputRule> input_rules();

/// Cells that may be fitted to and scored: published, no inputs, nothing that
/// contradicts physics, no run that stands in a table twice.
std::vector<const Cell*> scorable(const std::vector<Cell>& cells, Table table);

/// The three cells of a network that protocol "new network" looks at, none of
/// which it scores: one fused all-reduce on 8 devices, and the parameter
/// server on 8 and 16.
bool shown_of_new_network(const Cell& cell);

/// Fits the constants of `ids` to cells; the others keep their values.  The
/// rows of 4 devices repeat one experiment three times, so each counts a third.
Constants fit_to(Examinee& examinee,
                 std::span<const Cell* const> cells,
                 std::span<const Constant> ids,
                 const Constants& start,
                 int iterations = 15);

/// Percent by which a prediction exceeds the published number, by cell.
using Errors = std::map<const Cell*, double>;

Errors errors_of(Examinee& examinee,
                 std::span<const Cell* const> cells,
                 const Constants& constants);

/// Cross-validation: cells of equal group stay together, in at most `folds`
/// folds; each fold is predicted by constants fitted to the others.
Errors cross_validate(Examinee& examinee,
                      std::span<const Cell* const> cells,
                      const std::function<std::string(const Cell&)>& group,
                      std::size_t folds,
                      const Constants& start);

/// Each network in turn: constants that do not belong to it come from the
/// other networks' cells, its own from the three that are shown.
Errors new_network(Examinee& examinee,
                   std::span<const Cell* const> cells,
                   const Constants& start);

}  // namespace paceline::validate
