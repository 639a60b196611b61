// SPDX-License-Identifier: Apache-2.0
#include "paceline/report/csv.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace paceline::report {

std::string csv_field(std::string_view cell) {
  if (cell.find_first_of(",\"\r\n") == std::string_view::npos) {
    return std::string(cell);
  }
  std::string quoted = "\"";
  for (const char c : cell) {
    quoted += c == '"' ? "\"\"" : std::string(1, c);
  }
  return quoted + "\"";
}

std::string csv_text(const Table& table) {
  std::vector<std::string> fields;
  for (const Column& column : table.columns) {
    fields.push_back(csv_field(column.header()));
  }
  std::string text = fmt::format("{}\n", fmt::join(fields, ","));
  for (const TableRow& row : table.rows) {
    fields.clear();
    for (const std::string& cell : row.cells) {
      fields.push_back(csv_field(cell));
    }
    text += fmt::format("{}\n", fmt::join(fields, ","));
  }
  return text;
}

}  // namespace paceline::report
