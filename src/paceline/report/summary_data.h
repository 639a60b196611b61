// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "paceline/records/run_record.h"
#include "paceline/report/fields.h"
#include "paceline/report/summary.h"

namespace paceline::report {

/// The values that `--format csv` and `--format json` share, in order.
const Fields<CaseSummary>& summary_fields();

/// One line a case, quoted as in RFC 4180; a missing value is an empty field.
std::string render_csv(std::span<const records::RunRecord> records);

/// {"version": 1, "cases": [...], ...}: each case with the fields of the CSV
/// form and its configuration, warnings and errors; then comparison_data().
std::string render_json(std::span<const records::RunRecord> records);

}  // namespace paceline::report
