// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "paceline/strategies/merge.h"
#include "paceline/strategies/periodic_merge.h"
#include "paceline/strategies/rules.h"

namespace paceline::strategies {

/// A schedule that cuts the ready order into buckets by predicted times.
class CutRule : public ScheduleRule {
 public:
  bool needs_times() const override { return true; }

  Groups groups(const PlanInput& input, const TransferTime& time) const override {
    return groups_of_sizes(input.model, cut(input, time).sizes);
  }

  std::string remark(const PlanInput& input, const TransferTime& time) const override {
    return remark_text_of(cut(input, time));
  }

 protected:
  virtual PredictedCut cut(const PlanInput& input, const TransferTime& time) const = 0;
};

}  // namespace paceline::strategies
