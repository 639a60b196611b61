// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "paceline/stats/interval.h"

namespace paceline::report {

/// Which kinds of intervals stand in one view, whose words must then say which
/// is which.
class Bases {
 public:
  /// Estimates without an interval are passed over.
  void add(const std::optional<stats::Estimate>& estimate);

  bool over_runs() const { return over_runs_; }
  bool within_run() const { return within_run_; }
  bool mixed() const { return over_runs_ && within_run_; }

  /// What follows an interval from the steps inside the runs: a star where
  /// others stand beside it, else nothing.
  std::string_view mark() const { return mixed() ? "*" : ""; }

 private:
  bool over_runs_ = false;
  bool within_run_ = false;
};

/// What "[low, high]" means in tables of results; empty where there is none.
std::string interval_words(const Bases& bases);

/// The same of whiskers, solid over runs and dotted within them.
std::string whisker_words(const Bases& bases);

}  // namespace paceline::report
