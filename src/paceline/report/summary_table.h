// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "paceline/report/interval_kinds.h"
#include "paceline/report/summary.h"
#include "paceline/report/table.h"

namespace paceline::report {

enum class Detail : std::uint8_t {
  kShort,  // for a terminal
  kFull    // with every interval, memory, and the numbers of runs and steps
};

/// One table per group with one row per case; notes on the columns that hold
/// values; a footnote "[1]" per distinct warning, which the rows' last cells
/// name.
Document summary_document(const std::vector<GroupSummary>& groups,
                          Detail detail);

/// Whether one of the cases has the member.
template <class Value>
bool any_has(const std::vector<CaseSummary>& cases,
             std::optional<Value> CaseSummary::*member) {
  return std::ranges::any_of(cases, [member](const CaseSummary& one) {
    return (one.*member).has_value();
  });
}

/// What the columns with values in these cases mean.
std::vector<Note> column_notes(const std::vector<CaseSummary>& cases,
                               Detail detail);

/// The kinds of the intervals that the table of these cases shows.
IntervalKinds interval_kinds(const std::vector<CaseSummary>& cases,
                             Detail detail);

/// What all cases of the group share, as the title of its table:
/// "resnet18, batch 8 per rank: fp32 on cpu, gloo".
std::string heading_of(const GroupSummary& group);

}  // namespace paceline::report
