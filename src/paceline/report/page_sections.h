// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "paceline/report/cases.h"
#include "paceline/report/page_section.h"
#include "paceline/report/summary.h"

namespace paceline::report {

/// One table: its rows, the cases behind them in the same order, and its words.
struct TableView {
  const Table& table;
  const CaseGroup& group;
  const Sheet& sheet;
};

/// Throughput and efficiency with the table below them, then where the time of
/// a step goes.
std::vector<Section> table_sections(const TableView& view);

/// Where strategies were measured behind links of several rates: their steps
/// by rate, and where the fastest of them changes.
std::vector<Section> link_sections(const Table& table);

/// Step times as box plots and as distributions; without series where nothing
/// was measured.
struct StepTimes {
  Chart boxes;
  Chart steps;
};
StepTimes step_times(const TableView& view);

/// Bars of the exposed communication.
Chart exposed_communication(const Table& table);

}  // namespace paceline::report
