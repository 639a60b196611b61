// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "paceline/report/cases.h"
#include "paceline/report/diff.h"
#include "paceline/report/interval_kinds.h"
#include "paceline/report/table.h"
#include "paceline/report/value_format.h"

namespace paceline::report {

/// Differences of configuration and software, cases without a partner, what
/// the columns mean and how certain they are, warnings, and the verdict.
std::vector<Note> notes_of(const Diff& diff);

/// "1M/2G (model resnet50, batch 32, 2 ranks, ddp)".
std::string describe(const Case& one);
/// The first three cases, and how many more there are.
std::string describe(const std::vector<Case>& cases);

using DiffGroup = TableGroup<const DiffRow*>;
std::vector<DiffGroup> group_rows(const Diff& diff);

/// What is compared, as columns and notes call it: "step time", "mean step" or
/// "wall time".
std::string_view time_name(const Diff& diff);

/// The kinds of the intervals that the rows show.
IntervalKinds interval_kinds(const Diff& diff);

/// Unit and decimals of the times of a group, four digits of the shortest;
/// `mark` is IntervalKinds::mark.
ValueFormat time_format(const DiffGroup& group, std::string_view mark);

/// "-2.1 [-2.4, -1.8]", in percent, with that mark.
std::string change_text(const DiffRow& row, std::string_view mark);
/// "0.031", "< 0.001"; "-" where there is none.
std::string p_text(const std::optional<double>& p);

}  // namespace paceline::report
