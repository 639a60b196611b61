// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace paceline::report {

enum class Align : std::uint8_t { kLeft, kRight };

/// One column of a table.
struct Column {
  std::string name;     // "p50"; where it is empty, the unit is the header
  std::string group{};  // a heading over neighboring columns: "step time"
  std::string unit{};   // "ms"
  Align align = Align::kRight;

  bool operator==(const Column&) const = default;

  /// The heading over neighbors of equal heading: "step time, ms".
  std::string heading() const {
    return group.empty() || name.empty() || unit.empty() ? group : group + ", " + unit;
  }
  /// What stands above the cells: "p50"; the unit where no heading has it.
  std::string header() const {
    if (name.empty() || unit.empty() || !group.empty()) {
      return name.empty() ? unit : name;
    }
    return name + ", " + unit;
  }
};

struct TableRow {
  std::vector<std::string> cells;  // one a column, or only the first ones
  std::string span{};              // over the columns without a cell: why it failed
  bool emphasized = false;         // Markdown sets the last cell in bold
};

/// What every command prints as a table.  A renderer (console.h, markdown.h, csv.h, page.h) decides
/// how it looks.
struct Table {
  std::string title{};
  std::vector<Column> columns{};
  std::vector<TableRow> rows{};
  std::string legend{};  // lines right below the rows
  std::string text{};    // a paragraph below the rows
};

struct Note {
  std::string term;  // a column, a footnote's number, "warning"
  std::string text;

  bool operator==(const Note&) const = default;
};

/// Tables with the notes above (`header`) and below them.
struct Document {
  std::vector<Note> header{};
  std::vector<Table> tables{};
  std::vector<Note> notes{};
};

}  // namespace paceline::report
