// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "paceline/records/run_record.h"
#include "paceline/report/fields.h"
#include "paceline/report/summary.h"
#include "paceline/report/summary_table.h"

namespace paceline::report {

/// Returns the values that `--format csv` and `--format json` share, in order.
const Fields<CaseSummary>& summary_fields();

/// Renders one line per case, quoted as in RFC 4180; a missing value is an empty field.
std::string render_csv(std::span<const records::RunRecord> records);

/// Returns what `--format json` prints, and what the page and the Python package's reports are made
/// of: one object of {"version": 1}, the cases with their tables and notes, the runs, and the
/// distinct environments of the runs.
/// `report` is of Detail::kFull.
Json report_json(const SummaryReport& report, std::span<const records::RunRecord> records);
std::string render_json(std::span<const records::RunRecord> records);

}  // namespace paceline::report
