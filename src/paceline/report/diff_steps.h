// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "paceline/report/diff.h"

// The functions that diff_records() calls one after the other.

namespace paceline::report {

/// Returns the verdict of a row whose change and p are set.
Verdict verdict_of(const DiffRow& row, bool interleaved, const DiffOptions& options);

/// Returns the names of the rows with this verdict.
std::vector<std::string> names_with(const Diff& diff, Verdict verdict);

/// Returns what prevents a decision, one clause each: missing runs, pairs or cases, sides with
/// different numbers of runs, and rows without a verdict.
std::vector<std::string> missing_data_of(const Diff& diff);

/// The relative change that a comparison is to detect if the user states none.
inline constexpr double kDefaultDetectableChange = 0.01;

/// Sets needed_runs, runs_for_power and power_change of a comparison.
void set_power_analysis(Diff& diff, bool interleaved);

/// Returns the versions, builds and recorded environment variables in which the sides differ.
/// Several values of one side are joined.
std::vector<Difference> software_differences(std::span<const records::RunRecord> base,
                                             std::span<const records::RunRecord> test);

/// Returns warnings of what makes a comparison doubtful: different machines, runs that were not
/// taken in turns, failed runs.
std::vector<records::Warning> comparison_warnings(const Diff& diff,
                                                  std::span<const records::RunRecord> base,
                                                  std::span<const records::RunRecord> test);

}  // namespace paceline::report
