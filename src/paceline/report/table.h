// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace paceline::report {

enum class Align : std::uint8_t { kLeft, kRight };

/// One column of a table; its unit and heading stand above the cells.
struct Column {
  std::string name;     // name of the column, "p50"; if empty, the unit is the header
  std::string group{};  // a heading above adjacent columns: "step time"
  std::string unit{};   // unit of the values, "ms"
  Align align = Align::kRight;

  bool operator==(const Column&) const = default;

  /// Returns the heading above adjacent columns that have the same one: "step time, ms".
  std::string heading() const {
    return group.empty() || name.empty() || unit.empty() ? group : group + ", " + unit;
  }
  /// Returns the text above the cells: "p50", with the unit if no heading shows the unit.
  std::string header() const {
    if (name.empty() || unit.empty() || !group.empty()) {
      return name.empty() ? unit : name;
    }
    return name + ", " + unit;
  }
};

struct TableRow {
  std::vector<std::string> cells;  // one per column, or only the first columns' cells
  std::string span{};              // stands in place of the missing cells: why the case failed
  bool emphasized = false;         // Markdown sets the last cell in bold
};

/// A table that a command prints.  A renderer (console.h, markdown.h, csv.h, page.h) decides on its
/// form.
struct Table {
  std::string title{};
  std::vector<Column> columns{};
  std::vector<TableRow> rows{};
  std::string legend{};  // lines directly below the rows
  std::string text{};    // a paragraph below the rows
};

struct Note {
  std::string term;  // what the note explains: a column, a footnote's number, "warning"
  std::string text;

  bool operator==(const Note&) const = default;
};

/// Tables with the notes above them (`header`) and below them (`notes`).
struct Document {
  std::vector<Note> header{};
  std::vector<Table> tables{};
  std::vector<Note> notes{};
};

}  // namespace paceline::report
