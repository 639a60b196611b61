// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "paceline/report/cases.h"
#include "paceline/report/diff.h"
#include "paceline/report/result_column.h"
#include "paceline/report/table.h"

namespace paceline::report {

/// Differences of configuration and software, cases without a partner, what
/// the columns mean and how certain they are, warnings, and the verdict.
std::vector<Note> notes_of(const Diff& diff);

using DiffGroup = TableGroup<const DiffRow*>;
std::vector<DiffGroup> group_rows(const Diff& diff);

using DiffColumns = ResultColumns<const DiffRow*>;

/// What is said of each pair of cases, as columns of the table of a group.
DiffColumns diff_columns(const Diff& diff, const DiffGroup& group);

/// "changed", "not changed by more than 2 %", "not decided".
std::string decision_text(const Diff& diff);

}  // namespace paceline::report
