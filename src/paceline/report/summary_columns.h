// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "paceline/report/result_column.h"
#include "paceline/report/summary.h"

namespace paceline::report {

enum class Detail : std::uint8_t {
  kShort,  // fewer columns, for a terminal
  kFull    // all columns: every interval, memory, and the numbers of runs and steps
};

using CaseColumns = ResultColumns<CaseSummary>;

/// Returns the format that shows four digits of the shortest median step, in s, ms or us.
ValueFormat time_format(const std::vector<CaseSummary>& rows);

/// Returns the format that shows four digits of the lowest rate per rank, in examples per second.
ValueFormat rate_format(const std::vector<CaseSummary>& rows);

/// Returns the columns of a table of `cases`: one for each result that tables of this detail have.
/// Units and decimals follow from the values of the cases. `within_run_mark` is the text of
/// IntervalKinds::mark, which follows intervals over the steps within runs.
CaseColumns case_columns(const std::vector<CaseSummary>& cases, Detail detail,
                         std::string_view within_run_mark = "");

/// Whether at least one case has a value for this member.
template <class Value>
bool any_has(const std::vector<CaseSummary>& cases, std::optional<Value> CaseSummary::*member) {
  return std::ranges::any_of(
      cases, [member](const CaseSummary& one) { return (one.*member).has_value(); });
}

}  // namespace paceline::report
