// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <vector>

#include "paceline/report/diff.h"
#include "paceline/stats/permutation.h"

// The runs behind a comparison: which of them count, which belong together,
// and how they were taken.

namespace paceline::report {

/// Seconds of the steps of one case by the number of the run; several runs of one number follow
/// each other.
using StepsByRun = std::map<int, std::vector<std::vector<double>>>;

/// The steps of the runs that ended well.  A run with a step of zero seconds is left out: no ratio
/// can be formed of it.  StepTime::kMean: one value a run.
StepsByRun steps_by_run(const Case& one, StepTime what);

std::vector<std::vector<double>> all_runs(const StepsByRun& by_run);

/// Runs of both sides with the same number, one after the other.
struct RunPairs {
  std::vector<std::vector<double>> base, test;
};
RunPairs pairs_of(const CasePair& cases, StepTime what);

/// Logarithms of the medians of runs, and of the ratios of pairs of runs.
std::vector<double> log_medians(const std::vector<std::vector<double>>& runs);
std::vector<double> log_ratios(const RunPairs& pairs);

RunOrder order_of(const std::vector<CasePair>& pairs);

/// The rows' values, run by run, for the test over all rows.
std::vector<stats::Unit> units_of(const std::vector<DiffRow>& rows, bool interleaved,
                                  StepTime what);

}  // namespace paceline::report
