// SPDX-License-Identifier: Apache-2.0
#include "paceline/validate/score.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "paceline/stats/quantile.h"

namespace paceline::validate {

bool multi_node(const Cell& cell) {
  switch (cell.table) {
    case Table::kSurvey:
      return cell.gpus() > 4;
    case Table::kDecentralized:
      return cell.key[0] == "text" || cell.gpus() > 8;
    case Table::kFrameworks:
    case Table::kDdp:
    case Table::kDdpBuckets:
      return cell.gpus() > 8;
  }
  return false;
}

Score score(const Errors& errors, const std::function<bool(const Cell&)>& of) {
  Score score;
  std::vector<double> sizes;
  for (const auto& [cell, error] : errors) {
    if (!of(*cell)) {
      continue;
    }
    sizes.push_back(std::abs(error));
    if (score.worst_cell == nullptr || sizes.back() > score.worst) {
      score.worst = sizes.back();
      score.worst_cell = cell;
    }
  }
  score.cells = sizes.size();
  if (!sizes.empty()) {
    score.mean = std::accumulate(sizes.begin(), sizes.end(), 0.0) /
                 static_cast<double>(sizes.size());
    score.median = stats::median(sizes);
    score.p90 = stats::quantile(sizes, 0.9);
  }
  return score;
}

Score score(const Errors& errors) {
  return score(errors, [](const Cell&) { return true; });
}

}  // namespace paceline::validate
