// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "paceline/validate/survey_cell.h"

namespace paceline::validate {

inline bool is_quick(const Cell& cell) {
  switch (cell.table) {
    case Table::kSurvey: {
      // Servers' messages take long: eight devices of ResNet-50, once.
      const SurveyCell it = survey_cell(cell);
      const bool small = it.model == "ResNet-50" && it.gpus <= 8;
      return it.serves() ? small && it.network == "100GbE"
                         : small || (it.model == "BERT-Base" && it.gpus == 8);
    }
    case Table::kFrameworks:
      return cell.gpus() == 8 || cell.gpus() == 16;
    case Table::kDdp:
    case Table::kDdpBuckets:
      return cell.gpus() <= 2 || cell.gpus() == 16;
    case Table::kDecentralized:
      return cell.key[0] == "text" || cell.gpus() <= 8 ||
             cell.key[1] == "horovod";
  }
  return true;
}

/// Cells of every method, framework, model and algorithm that are simulated in
/// seconds; nightly tests ask all.
inline std::vector<Cell> slice_of(std::vector<Cell> cells) {
  std::erase_if(cells, [](const Cell& cell) { return !is_quick(cell); });
  return cells;
}

}  // namespace paceline::validate
