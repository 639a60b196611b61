// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <vector>

#include "paceline/report/diff.h"
#include "paceline/stats/permutation.h"

// The runs behind a comparison: which runs count, which runs form pairs, and in which order they
// were taken.

namespace paceline::report {

/// The step times of one case in seconds, by run number.  Several records may have the same run
/// number.
using StepsByRun = std::map<int, std::vector<std::vector<double>>>;

/// Returns the step times of the runs that succeeded.  A run with a step of zero seconds is left
/// out, since no ratio can be formed with it.  With StepTime::kMean a run has one value, the mean.
StepsByRun steps_by_run(const CaseRecords& one, StepTime what);

std::vector<std::vector<double>> all_runs(const StepsByRun& by_run);

/// The step times of paired runs.  Runs of the two sides with the same number form a pair; element
/// k of both lists is the k-th pair.
struct RunPairs {
  std::vector<std::vector<double>> base, test;
};
RunPairs run_pairs_of(const CasePair& cases, StepTime what);

/// log_medians() returns the logarithm of each run's median step time, and log_ratios() that of
/// each pair's ratio of medians, test over base.
std::vector<double> log_medians(const std::vector<std::vector<double>>& runs);
std::vector<double> log_ratios(const RunPairs& pairs);

RunOrder run_order_of(const std::vector<CasePair>& pairs);

/// Returns, for each run, its value in every row, as the permutation test over all rows takes them.
std::vector<stats::LabeledRun> labeled_runs_of(const std::vector<DiffRow>& rows, bool interleaved,
                                               StepTime what);

}  // namespace paceline::report
