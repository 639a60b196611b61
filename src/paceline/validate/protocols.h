// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "paceline/validate/inputs.h"

namespace paceline::validate {

/// Examinees that are asked at the same time: models keep what they compile,
/// so each thread has its own.
class Examinees {
 public:
  Examinees(const std::vector<Cell>& cells,
            const std::filesystem::path& reference,
            std::size_t threads);

  Examinee& first() { return *all_.front(); }

  /// Calls `work` for 0 to `count` - 1; results do not depend on which
  /// examinee does what.  What one throws is thrown here.
  void for_each(std::size_t count,
                const std::function<void(Examinee&, std::size_t)>& work);

 private:
  std::vector<std::unique_ptr<Examinee>> all_;
};

/// Fits the constants of `ids` to cells from each start, and takes what fits
/// best; the others, and those which no cell depends on, keep the values of the
/// first start.  Constants that share no cell are fitted apart.  The rows of 4
/// devices repeat one experiment three times, so each counts a third.
Constants fit_to(Examinee& examinee,
                 std::span<const Cell* const> cells,
                 std::span<const Constant> ids,
                 std::span<const Constants> starts);

/// What is known before any cell, and places around it: the loss has several
/// minima.
std::vector<Constants> fit_starts();

/// Percent by which a prediction exceeds the published number, by cell.
using Errors = std::map<const Cell*, double>;

Errors errors_of(Examinee& examinee,
                 std::span<const Cell* const> cells,
                 const Constants& constants);

/// Cross-validation: each group of cells in turn is predicted by constants
/// fitted to all other cells, from fit_starts() on.  Cells whose group is empty
/// are never left out nor scored.
Errors cross_validate(Examinees& examinees,
                      std::span<const Cell* const> cells,
                      const std::function<std::string(const Cell&)>& group);

/// Each network in turn: constants that do not belong to it come from the
/// other networks' cells, its own from the three that are shown.
Errors new_network(Examinees& examinees, std::span<const Cell* const> cells);

}  // namespace paceline::validate
