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

/// Where columns of cases stand in tables.  As data they stand in the order of the list.
enum CasePlace : int {
  kIdentity,
  kStepMedian,
  kStepTimes,
  kPrediction,
  kRates,
  kMemory,
  kSamples,
  kFootnotes
};

/// Four digits of the shortest median step, in s, ms or us.
ValueFormat time_format(const std::vector<CaseSummary>& rows);

/// Four digits of the lowest rate per rank, examples per second.
ValueFormat rate_format(const std::vector<CaseSummary>& rows);

/// Every result that a case has, as columns of a table of these cases: times and rates have the
/// units and decimals that suit them. `within_run_mark` as IntervalKinds::mark.
CaseColumns case_columns(const std::vector<CaseSummary>& cases, Detail detail,
                         std::string_view within_run_mark = "");

/// Whether one of the cases has the member.
template <class Value>
bool any_has(const std::vector<CaseSummary>& cases, std::optional<Value> CaseSummary::*member) {
  return std::ranges::any_of(
      cases, [member](const CaseSummary& one) { return (one.*member).has_value(); });
}

}  // namespace paceline::report
