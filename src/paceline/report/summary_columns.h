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
  kShort,  // for a terminal
  kFull    // with every interval, memory, and the numbers of runs and steps
};

using CaseColumns = ResultColumns<CaseSummary>;

/// Returns the format that shows four digits of the shortest median step, in s, ms or us.
ValueFormat time_format(const std::vector<CaseSummary>& rows);

/// Returns the format that shows four digits of the lowest rate per rank, in examples per second.
ValueFormat rate_format(const std::vector<CaseSummary>& rows);

/// Returns every result of a case as columns of a table of these cases.  Times and rates have the
/// units and decimals that suit the cases.  `within_run_mark` is that of IntervalKinds::mark.
CaseColumns case_columns(const std::vector<CaseSummary>& cases, Detail detail,
                         std::string_view within_run_mark = "");

/// Whether at least one case has a value for this member.
template <class Value>
bool any_has(const std::vector<CaseSummary>& cases, std::optional<Value> CaseSummary::*member) {
  return std::ranges::any_of(
      cases, [member](const CaseSummary& one) { return (one.*member).has_value(); });
}

}  // namespace paceline::report
