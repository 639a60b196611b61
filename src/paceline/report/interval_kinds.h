// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "paceline/stats/interval.h"

namespace paceline::report {

/// The kinds of intervals that stand in one table: over repeated runs, or from the steps inside of
/// runs.
class IntervalKinds {
 public:
  /// Ignores estimates without an interval.
  void add(const std::optional<stats::Estimate>& estimate) {
    if (estimate && estimate->interval) {
      const bool runs = estimate->basis == stats::Basis::kRuns;
      (runs ? over_runs_ : within_run_) = true;
    }
  }

  bool over_runs() const { return over_runs_; }
  bool within_run() const { return within_run_; }
  bool mixed() const { return over_runs_ && within_run_; }

  /// The mark behind an interval from the steps inside the runs: a star where intervals over runs
  /// stand beside it, else nothing.
  std::string_view mark() const { return mixed() ? "*" : ""; }

 private:
  bool over_runs_ = false;
  bool within_run_ = false;
};

}  // namespace paceline::report
