// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "paceline/report/fields.h"
#include "paceline/report/framework_report.h"
#include "paceline/report/table.h"

// Parts of the data that the page's scripts draw (page.h).

namespace paceline::report {

/// Title, columns and rows of cells.
Json table_json(const Table& table);

/// Term and text of each.
Json notes_json(const std::vector<Note>& notes);

/// The report's tables, and of each the series of its charts, with the columns
/// that are left out of them and why.
Json frameworks_json(const FrameworkReport& report);

}  // namespace paceline::report
