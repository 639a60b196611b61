// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "paceline/validate/judged.h"

namespace paceline::validate {

struct ExaminationOptions {
  std::filesystem::path reference;
  bool fit = false;         // the constants anew, from the table's values on
  bool protocols = false;   // cross-validation, new network
  bool cells = false;       // predicted, published, error of every cell
  std::size_t threads = 2;  // of fits
  std::optional<Table> table{};  // the only one that is examined
  std::optional<std::filesystem::path> predictions{};
  std::optional<std::filesystem::path> earned{};  // sim/examined.inc
};

/// One protocol's cells, predicted by fits that have not seen them.
struct Unseen {
  std::string left_out;  // "a series"
  std::vector<Judged> cells;
};

/// What was found of a table; both bucket sizes of PyTorch's, whose cells are
/// fitted together, are one.
struct TableResult {
  Table table{};
  std::vector<Judged> cells;     // what is set apart too
  std::vector<Unseen> unseen{};  // with options.protocols
};

struct Examination {
  std::string text;  // says all of it
  std::vector<TableResult> tables;
};

/// Predicts every cell of the published tables and says how far off that is.
/// Writes `row_id,predicted_throughput` where asked to.
Examination examine(const ExaminationOptions& options);

}  // namespace paceline::validate
