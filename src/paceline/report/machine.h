// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include <nlohmann/json.hpp>

#include "paceline/records/run_record.h"
#include "paceline/report/summary.h"

namespace paceline::report {

/// One column of the CSV form: its name with the unit, and its value in a row,
/// null where there is none.
struct Column {
  std::string_view name;
  nlohmann::ordered_json (*value)(const Row& row);
};

/// The columns that `--format csv` and `--format json` share, in order.
std::span<const Column> columns();

/// One line a case, quoted as in RFC 4180, lines ended by LF; a value that is
/// missing is an empty field.
std::string render_csv(std::span<const records::RunRecord> records);

/// {"version": 1, "cases": [...]}: each case with the columns of the CSV form
/// and its configuration, warnings and errors.
std::string render_json(std::span<const records::RunRecord> records);

/// `field` as one field of a CSV line.
std::string csv_field(std::string_view field);

}  // namespace paceline::report
