// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "paceline/report/summary_columns.h"

// Notes that explain the columns of tables of cases.  Their texts depend on the cases; a text is
// empty if it applies to none of the cases.

namespace paceline::report {

bool is_predicted(const CaseSummary& one);

/// Returns a note on how many of the ranks train; empty if all do.
std::string ranks_note(const std::vector<CaseSummary>& cases);

/// Returns a note on the numbers of steps and runs behind the results. Each distinct combination is
/// stated once.
std::string step_note(const std::vector<CaseSummary>& cases, bool simulated);

std::string rate_note(const std::vector<CaseSummary>& cases, bool simulated);
std::string efficiency_note(const std::vector<CaseSummary>& cases);

/// Returns a note that explains the intervals "[low, high]" in these columns.
std::string interval_note(const std::vector<CaseSummary>& cases, const CaseColumns& columns);

/// Explains which steps the columns count, if a case's update rule makes its steps differ
/// (every=H).
std::string period_note(const std::vector<CaseSummary>& cases);

std::string exposed_note(const std::vector<CaseSummary>& cases, bool simulated);
std::string wire_note(const std::vector<CaseSummary>& cases);
std::string memory_note(const std::vector<CaseSummary>& cases);
std::string error_bar_note(const std::vector<CaseSummary>& cases);

}  // namespace paceline::report
