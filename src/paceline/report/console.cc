// SPDX-License-Identifier: Apache-2.0
#include "paceline/report/console.h"

#include <algorithm>

#include <fmt/format.h>

#include "paceline/report/text.h"

namespace paceline::report {
namespace {

constexpr std::size_t kGap = 2;  // blanks between columns

using Widths = std::vector<std::size_t>;

// The index after the last neighbor that shares the heading of column `begin`.
std::size_t heading_end(const Table& table, std::size_t begin) {
  std::size_t end = begin + 1;
  while (end < table.columns.size() &&
         table.columns[end].heading() == table.columns[begin].heading()) {
    ++end;
  }
  return end;
}

// The width of the columns from `begin` to `end` with the gaps between them.
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
    widths.push_back(shown_width(column.header()));
  }
  for (const TableRow& row : table.rows) {
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      widths[i] = std::max(widths[i], shown_width(row.cells[i]));
    }
  }
  // A heading that is wider than its columns widens the last of them.
  for (std::size_t begin = 0, end = 0; begin < widths.size(); begin = end) {
    end = heading_end(table, begin);
    const std::size_t needed = shown_width(table.columns[begin].heading());
    const std::size_t width = width_of(widths, begin, end);
    widths[end - 1] += needed > width ? needed - width : 0;
  }
  return widths;
}

std::string aligned(const std::string& text, std::size_t width, Align align) {
  const std::string blanks(width - std::min(width, shown_width(text)), ' ');
  return align == Align::kLeft ? text + blanks : blanks + text;
}

std::string line_of(const std::vector<std::string>& cells,
                    const Table& table,
                    const Widths& widths) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    line += std::string(i == 0 ? 0 : kGap, ' ') +
            aligned(cells[i], widths[i], table.columns[i].align);
  }
  return line;
}

std::string without_trailing_blanks(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

// The headings, each at the right end of its columns; empty: there are none.
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

std::string notes_text(const std::vector<Note>& notes, std::size_t width) {
  std::string text;
  for (const Note& note : notes) {
    text += hanging(fmt::format("{:<{}}", note.term, width), note.text);
  }
  return text;
}

}  // namespace

std::string console_text(const Table& table) {
  const Widths widths = widths_of(table);
  std::vector<std::string> headers;
  for (const Column& column : table.columns) {
    headers.push_back(column.header());
  }
  std::string text = table.title.empty() ? "" : table.title + "\n\n";
  text += headings_line(table, widths) +
          without_trailing_blanks(line_of(headers, table, widths));
  for (const TableRow& row : table.rows) {
    const std::string line = line_of(row.cells, table, widths);
    text += row.span.empty() ? without_trailing_blanks(line)
                             : hanging(line + std::string(kGap, ' '), row.span);
  }
  return text + (table.legend.empty() ? "" : table.legend + "\n") +
         (table.text.empty() ? "" : "\n" + table.text + "\n");
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
    text += console_text(table) + "\n";
  }
  return text + notes_text(document.notes, kTermWidth);
}

}  // namespace paceline::report
