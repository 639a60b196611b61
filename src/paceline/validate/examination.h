// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>

#include "paceline/validate/protocols.h"

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

/// Predicts every cell of the published tables and says how far off that is.
/// Writes `row_id,predicted_throughput` where asked to.
std::string examine(const ExaminationOptions& options);

}  // namespace paceline::validate
