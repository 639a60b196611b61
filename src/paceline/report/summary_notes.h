// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "paceline/report/summary_columns.h"

// What the columns of tables of cases mean: texts that depend on the cases.
// A text is empty where the cases have nothing that it is about.

namespace paceline::report {

bool is_predicted(const CaseSummary& one);

/// How many of the ranks train, where not all do.
std::string ranks_note(const std::vector<CaseSummary>& cases);

/// Names how many steps of how many runs there are, every distinct number.
std::string step_note(const std::vector<CaseSummary>& cases, bool simulated);

std::string rate_note(const std::vector<CaseSummary>& cases, bool simulated);
std::string efficiency_note(const std::vector<CaseSummary>& cases);

/// What "[low, high]" means in these columns.
std::string interval_note(const std::vector<CaseSummary>& cases, const CaseColumns& columns);

/// Which steps the columns count where steps of a case differ by the rule that they follow.
std::string period_note(const std::vector<CaseSummary>& cases);

std::string exposed_note(const std::vector<CaseSummary>& cases, bool simulated);
std::string wire_note(const std::vector<CaseSummary>& cases);
std::string memory_note(const std::vector<CaseSummary>& cases);
std::string error_bar_note(const std::vector<CaseSummary>& cases);

}  // namespace paceline::report
