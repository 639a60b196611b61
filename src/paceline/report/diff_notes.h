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

/// Returns the notes of a comparison: differences of configuration and software, cases without a
/// partner, the meaning and certainty of the columns, warnings, and the verdict.
std::vector<Note> notes_of(const Diff& diff);

/// How the compared time is called.
struct ComparedTime {
  std::string_view heading;     // of its columns
  std::string_view meaning;     // the note on these columns
  std::string_view in_json;     // the value of the key "compared"
  std::string_view run_values;  // the values whose labels the permutation test exchanges
  std::string_view title{};     // of the table; empty: the model and the batch size
};
const ComparedTime& compared_time(const Diff& diff);

using DiffGroup = TableGroup<const DiffRow*>;

using DiffColumns = ResultColumns<const DiffRow*>;

/// Returns the columns of a group's table, which has a row for each pair of cases.
DiffColumns diff_columns(const Diff& diff, const DiffGroup& group);

}  // namespace paceline::report
