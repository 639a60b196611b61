// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "paceline/report/diff.h"

// The steps of diff_records().

namespace paceline::report {

/// Sets change, p, corrected_p and pairs_to_go of each row from its pairs of runs.  The rows share
/// the significance equally, so that the chance of any false decision among them is at most that.
/// A row has an interval from the number of pairs on that bounds it.
void estimate_until(std::vector<DiffRow>& rows, const DiffOptions& options);

/// What is proven of a row; change and p are set.
Verdict verdict_of(const DiffRow& row, bool interleaved, const DiffOptions& options);

/// The names of the rows with this verdict.
std::vector<std::string> names_with(const Diff& diff, Verdict verdict);

/// What keeps the comparison from a decision: runs, pairs or cases that are missing, sides of
/// unequally many runs, rows without a verdict.
std::vector<std::string> missing_of(const Diff& diff);

/// The change that is looked for where none is stated.
inline constexpr double kUsualChange = 0.01;

/// Sets needed_runs, runs_for_power, power_change and found_change.  The rows have verdicts.
void plan_runs(Diff& diff, bool interleaved);

/// Versions, builds and recorded environment variables in which the sides differ; the values that
/// the records of a side have are joined.
std::vector<Difference> software_differences(std::span<const records::RunRecord> base,
                                             std::span<const records::RunRecord> test);

/// What makes a comparison doubtful: other machines, runs that were not taken in turns, runs that
/// failed.
std::vector<records::Warning> comparison_warnings(const Diff& diff,
                                                  std::span<const records::RunRecord> base,
                                                  std::span<const records::RunRecord> test);

}  // namespace paceline::report
