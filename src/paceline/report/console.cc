// SPDX-License-Identifier: Apache-2.0
#include "paceline/report/console.h"

#include <algorithm>

#include <fmt/format.h>

#include "paceline/base/text.h"
#include "paceline/report/text.h"

namespace paceline::report {
namespace {

constexpr std::size_t kGap = 2;          // blanks between columns
constexpr std::size_t kLineWidth = 120;  // the widest line of a table

using Widths = std::vector<std::size_t>;

// Returns the index after the last adjacent column that shares the heading of column `begin`.
std::size_t heading_end(const Table& table, std::size_t begin) {
  std::size_t end = begin + 1;
  while (end < table.columns.size() &&
         table.columns[end].heading() == table.columns[begin].heading()) {
    ++end;
  }
  return end;
}

// Returns the width of the columns from `begin` to `end`, including the gaps between them.
std::size_t width_of(const Widths& widths, std::size_t begin, std::size_t end) {
  std::size_t width = kGap * (end - begin - 1);
  for (std::size_t i = begin; i < end; ++i) {
    width += widths[i];
  }
  return width;
}

Widths widths_of(const Table& table) {
  Widths widths;
  for (const Column& column : table.columns) {
    widths.push_back(display_width(column.header()));
  }
  for (const TableRow& row : table.rows) {
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      widths[i] = std::max(widths[i], display_width(row.cells[i]));
    }
  }
  // A heading that is wider than its columns widens the last of them.
  for (std::size_t begin = 0, end = 0; begin < widths.size(); begin = end) {
    end = heading_end(table, begin);
    const std::size_t needed = display_width(table.columns[begin].heading());
    const std::size_t width = width_of(widths, begin, end);
    widths[end - 1] += needed > width ? needed - width : 0;
  }
  return widths;
}

std::string aligned(const std::string& text, std::size_t width, Align align) {
  const std::string blanks(width - std::min(width, display_width(text)), ' ');
  return align == Align::kLeft ? text + blanks : blanks + text;
}

std::string line_of(const std::vector<std::string>& cells, const Table& table,
                    const Widths& widths) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    line +=
        std::string(i == 0 ? 0 : kGap, ' ') + aligned(cells[i], widths[i], table.columns[i].align);
  }
  return line;
}

std::string without_trailing_blanks(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

// Returns the line of headings, each right-aligned with its columns; empty if there are none.
std::string headings_line(const Table& table, const Widths& widths) {
  std::string line;
  bool any = false;
  for (std::size_t begin = 0, end = 0; begin < widths.size(); begin = end) {
    end = heading_end(table, begin);
    const std::string heading = table.columns[begin].heading();
    any = any || !heading.empty();
    line += std::string(begin == 0 ? 0 : kGap, ' ') +
            aligned(heading, width_of(widths, begin, end), Align::kRight);
  }
  return any ? without_trailing_blanks(line) : "";
}

// Narrows the first column, which has the labels, if the table is too wide for a line.  A label
// that no longer fits gets its own line.
void narrow_labels(const Table& table, Widths& widths) {
  constexpr std::size_t kLabel = 12;  // width up to which the first column is not narrowed
  const std::size_t width = width_of(widths, 0, widths.size());
  if (width <= kLineWidth || widths[0] <= kLabel || table.columns.front().align != Align::kLeft) {
    return;
  }
  const std::size_t excess = width - kLineWidth;
  widths[0] = std::max(display_width(table.columns.front().header()),
                       widths[0] > excess ? widths[0] - excess : std::size_t{0});
}

// Returns separate lines for the text of the last column if it is too long for the row, else an
// empty text.
std::string long_tail_of(const TableRow& row, const Table& table, const Widths& widths) {
  constexpr std::string_view kIndent = "    ";
  const std::size_t last = table.columns.size() - 1;
  if (last == 0 || row.cells.size() <= last || !row.span.empty() ||
      table.columns[last].align != Align::kLeft ||
      width_of(widths, 0, last) + kGap + display_width(row.cells[last]) <= kLineWidth) {
    return "";
  }
  return with_hanging_indent(kIndent, row.cells[last], kLineWidth);
}

std::string row_text(const TableRow& row, const Table& table, const Widths& widths) {
  std::vector<std::string> cells = row.cells;
  std::string text;
  if (!cells.empty() && display_width(cells.front()) > widths.front()) {
    text = cells.front() + "\n";
    cells.front().clear();
  }
  const std::string tail = long_tail_of(row, table, widths);
  if (!tail.empty()) {
    cells.pop_back();
  }
  const std::string line = line_of(cells, table, widths);
  return text +
         (row.span.empty()
              ? without_trailing_blanks(line)
              : with_hanging_indent(line + std::string(kGap, ' '), row.span, kLineWidth)) +
         tail;
}

std::string rows_text(const Table& table) {
  Widths widths = widths_of(table);
  narrow_labels(table, widths);
  std::vector<std::string> headers;
  for (const Column& column : table.columns) {
    headers.push_back(column.header());
  }
  std::string text =
      headings_line(table, widths) + without_trailing_blanks(line_of(headers, table, widths));
  for (const TableRow& row : table.rows) {
    text += row_text(row, table, widths);
  }
  return text;
}

// Returns the number of leading columns that name a row and are repeated in continued tables: 1 or
// 2.  The second column counts if no heading stands above it, as "ranks" beside "case".
std::size_t identifying_columns(const Table& table) {
  constexpr std::size_t kMost = 2;
  std::size_t count = 1;
  while (count < std::min(kMost, table.columns.size()) && table.columns[count].heading().empty()) {
    ++count;
  }
  return count;
}

// Returns the number of leading columns that fit on one line.  Columns that share a heading are not
// separated.
std::size_t columns_that_fit(const Table& table) {
  Widths widths = widths_of(table);
  narrow_labels(table, widths);
  std::size_t fitting = heading_end(table, identifying_columns(table) - 1);
  for (std::size_t end = fitting; end < widths.size();) {
    end = heading_end(table, end);
    if (width_of(widths, 0, end) <= kLineWidth) {
      fitting = end;
    }
  }
  return std::max(fitting, identifying_columns(table) + 1);
}

// Returns a table of the identifying columns and those from `begin` to `end`.  It has the rows that
// have cells in these columns.
Table columns_of(const Table& table, std::size_t begin, std::size_t end) {
  const auto lead = static_cast<std::ptrdiff_t>(identifying_columns(table));
  const auto first = static_cast<std::ptrdiff_t>(begin);
  const auto part_of = [&](const auto& all) {
    auto part = all;
    const auto last = static_cast<std::ptrdiff_t>(std::min(end, all.size()));
    part.erase(part.begin() + std::min(last, std::ssize(all)), part.end());
    part.erase(part.begin() + std::min(lead, std::ssize(part)),
               part.begin() + std::min(first, std::ssize(part)));
    return part;
  };
  Table part{.columns = part_of(table.columns)};
  for (const TableRow& row : table.rows) {
    if (row.cells.size() > begin || first == lead) {
      part.rows.push_back({.cells = part_of(row.cells), .span = first == lead ? row.span : ""});
    }
  }
  return part;
}

// Continues rows that are wider than a line in a second table below the first.
std::string wrapped_rows_text(const Table& table) {
  const std::size_t lead = identifying_columns(table);
  const std::size_t end = columns_that_fit(table);
  if (end >= table.columns.size()) {
    return rows_text(table);
  }
  Table rest = columns_of(table, end, table.columns.size());
  return rows_text(columns_of(table, lead, end)) +
         (rest.rows.empty() ? "" : "\n" + wrapped_rows_text(rest));
}

// Wraps the lines of `text` that are longer than kLineWidth.
std::string wrapped_text(const std::string& text) {
  std::string out;
  for (const std::string& line : split_at(text, '\n')) {
    out +=
        display_width(line) <= kLineWidth ? line + "\n" : with_hanging_indent("", line, kLineWidth);
  }
  return out;
}

std::string notes_text(const std::vector<Note>& notes, std::size_t width) {
  std::string text;
  for (const Note& note : notes) {
    text += with_hanging_indent(fmt::format("{:<{}}", note.term, width), note.text);
  }
  return text;
}

}  // namespace

std::string console_text(const Table& table) {
  std::string text =
      table.title.empty() ? "" : with_hanging_indent("", table.title, kLineWidth) + "\n";
  text += wrapped_rows_text(table);
  return text + (table.legend.empty() ? "" : wrapped_text(table.legend)) +
         (table.text.empty() ? "" : "\n" + wrapped_text(table.text));
}

std::string console_text(const Document& document) {
  constexpr std::size_t kTermWidth = 12;
  std::size_t widest = 0;
  for (const Note& note : document.header) {
    widest = std::max(widest, note.term.size() + kGap);
  }
  std::string text = notes_text(document.header, widest);
  text += text.empty() ? "" : "\n";
  for (const Table& table : document.tables) {
    const bool ends = &table == &document.tables.back() && document.notes.empty();
    text += console_text(table) + (ends ? "" : "\n");
  }
  return text + notes_text(document.notes, kTermWidth);
}

}  // namespace paceline::report
