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

/// Returns what `--format json` prints and what the page draws:
///   cases     for each case the fields of the CSV form, its configuration,
///             warnings and errors
///   tables    the tables of Detail::kFull; for each row the indices of its case
///             and of its records, its command and its short strategy; the
///             units and decimals of the values
///   training  the tables and curves of the cases that trained on data
///   notes     what the columns of the tables mean
Json summary_json(const SummaryReport& report, std::span<const records::RunRecord> records);

/// Returns the further input of the Python package's reports:
///   runs          every record without its step samples, and whether it trained the same
///   environments  the distinct environments of the runs; a run has the index of its own
Json runs_json(std::span<const records::RunRecord> records);

/// Returns one object of {"version": 1}, summary_json() and runs_json().
Json report_json(std::span<const records::RunRecord> records);
std::string render_json(std::span<const records::RunRecord> records);

}  // namespace paceline::report
