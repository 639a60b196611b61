// SPDX-License-Identifier: Apache-2.0
#include "paceline/report/markdown.h"

#include <fmt/format.h>

#include "paceline/report/layout.h"
#include "paceline/report/link_curves.h"
#include "paceline/report/sheet.h"

namespace paceline::report {
namespace {

std::string line_of(const std::vector<std::string>& cells) {
  std::string line = "|";
  for (const std::string& cell : cells) {
    line += " " + cell + (cell.empty() ? "|" : " |");
  }
  return line + "\n";
}

// The unit stands with the group ("step time, ms") or is the header itself
// ("efficiency", "%"): Markdown has one line of headers.
std::string header_of(const Grid::Column& column) {
  if (column.group.empty()) {
    return column.header;
  }
  const bool is_unit = column.header == "%" || column.header == "s" ||
                       column.header == "ms" || column.header == "us";
  return is_unit ? column.group + ", " + column.header
                 : column.group + " " + column.header;
}

std::string table_text(const Sheet& sheet) {
  std::vector<std::string> headers;
  std::vector<std::string> alignments;
  for (const Grid::Column& column : sheet.columns) {
    headers.push_back(markdown_text(header_of(column)));
    alignments.emplace_back(headers.size() == 1 ? ":--" : "--:");
  }
  std::string text = line_of(headers) + line_of(alignments);
  for (const Sheet::Line& line : sheet.lines) {
    std::vector<std::string> cells;
    for (const std::string& cell : line.cells) {
      cells.push_back(markdown_text(cell));
    }
    if (!line.sentence.empty()) {
      cells.push_back(markdown_text(line.sentence));
    }
    cells.resize(sheet.columns.size());
    text += line_of(cells);
  }
  return text;
}

std::string titled(const Sheet& sheet) {
  return "### " + markdown_text(sheet.heading) + "\n\n" + table_text(sheet) +
         "\n";
}

std::string crossings_text(const LinkCurves& curves, const Scale& scale) {
  const Sheet sheet = crossing_sheet(curves, scale);
  return (sheet.lines.empty() ? "" : titled(sheet)) +
         markdown_text(crossing_words(curves)) + "\n\n";
}

}  // namespace

std::string markdown_text(std::string_view text) {
  constexpr std::string_view kSpecial = "\\`*_{}<>#|~!&$@";
  std::string out;
  for (const char c : printable(text)) {
    // A bracket that another one follows would make a link.
    const bool link = (c == '(' || c == '[' || c == ':') && out.ends_with(']');
    if (link || kSpecial.find(c) != std::string_view::npos) {
      out += '\\';
    }
    out += c;
  }
  return out;
}

std::string render_markdown(std::span<const records::RunRecord> records) {
  const std::vector<Table> tables = summarize(records);
  const Sheets sheets = make_sheets(tables, Detail::kFull);
  std::string text;
  for (std::size_t i = 0; i < tables.size(); ++i) {
    text += titled(sheets.tables[i]);
    for (const LinkCurves& curves : link_curves(tables[i])) {
      text += crossings_text(curves, time_scale(tables[i].rows));
    }
  }
  for (const Meaning& meaning : sheets.meanings) {
    text += fmt::format("- **{}**: {}\n",
                        markdown_text(meaning.term),
                        markdown_text(meaning.text));
  }
  for (std::size_t i = 0; i < sheets.notes.size(); ++i) {
    text += fmt::format(
        "- **note {}**: {}\n", i + 1, markdown_text(sheets.notes[i]));
  }
  return text;
}

}  // namespace paceline::report
