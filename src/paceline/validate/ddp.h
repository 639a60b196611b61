// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "paceline/validate/cell.h"
#include "paceline/validate/constants.h"
#include "paceline/validate/plan_cache.h"

namespace paceline::validate {

/// PyTorch DDP on machines of 8 V100: the step of one device without DDP is an
/// input (the median of the row "no ddp"), the rest is simulated from the
/// Reducer's plan.  Higher percentiles add the noise of ranks.
class DdpModel {
 public:
  /// Takes the inputs from the cells.
  explicit DdpModel(const std::vector<Cell>& cells);

  /// Per device, as the tables say it.
  double samples_per_s(const Cell& cell, const Constants& constants);

  /// Whether the cell is an input and so never scored.
  static bool is_input(const Cell& cell);

 private:
  double median_seconds(const std::string& model,
                        int machines,
                        int local,
                        double bucket_mb,
                        const Constants& constants);

  struct Alone {
    double seconds = 0;  // a step without DDP
    TimedNetwork network{};
  };

  /// Throws UsageError where the table has no such row.
  const Alone& alone(const std::string& model) const;

  std::map<std::string, Alone> alone_;  // by model
  PlanCache plans_;
};

}  // namespace paceline::validate
