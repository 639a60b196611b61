// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "paceline/records/run_record.h"
#include "paceline/report/fields.h"
#include "paceline/report/summary.h"
#include "paceline/report/summary_table.h"

namespace paceline::report {

/// The values that `--format csv` and `--format json` share, in order.
const Fields<CaseSummary>& summary_fields();

/// One line a case, quoted as in RFC 4180; a missing value is an empty field.
std::string render_csv(std::span<const records::RunRecord> records);

/// What `--format json` prints and the page draws:
///   cases     each with the fields of the CSV form, its configuration,
///             warnings and errors
///   tables    the tables of Detail::kFull; of each row the index of its case
///             and those of its records, its command and its strategy in
///             short; units and decimals of the values
///   training  the tables and the curves of cases that trained on data
///   notes     what the columns of the tables mean
Json summary_json(const SummaryReport& report, std::span<const records::RunRecord> records);

/// What reports of the Python package are made from beside that:
///   runs          every record without the samples of its steps, and whether it trained the same
///   environments  those of the runs, each once; a run names its own by the index
Json runs_json(std::span<const records::RunRecord> records);

/// {"version": 1}, summary_json() and runs_json().
Json report_json(std::span<const records::RunRecord> records);
std::string render_json(std::span<const records::RunRecord> records);

}  // namespace paceline::report
