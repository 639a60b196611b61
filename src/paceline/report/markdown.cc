// SPDX-License-Identifier: Apache-2.0
#include "paceline/report/markdown.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paceline/base/text.h"
#include "paceline/report/text.h"

namespace paceline::report {
namespace {

std::string line_of(const std::vector<std::string>& cells) {
  std::string line = "|";
  for (const std::string& cell : cells) {
    line += " " + cell + (cell.empty() ? "|" : " |");
  }
  return line + "\n";
}

// Returns heading, unit and name in one text, since Markdown has a single line of headers.
std::string header_of(const Column& column) {
  if (column.group.empty()) {
    return column.header();
  }
  return column.heading() + (column.name.empty() ? ", " : " ") + column.header();
}

// Renders the headers and rows of the table.
std::string rows_of(const Table& table) {
  std::vector<std::string> headers;
  std::vector<std::string> alignments;
  for (const Column& column : table.columns) {
    headers.push_back(markdown_escaped(header_of(column)));
    alignments.emplace_back(column.align == Align::kLeft ? ":--" : "--:");
  }
  std::string text = line_of(headers) + line_of(alignments);
  for (const TableRow& row : table.rows) {
    std::vector<std::string> cells;
    for (const std::string& cell : row.cells) {
      cells.push_back(markdown_escaped(cell));
    }
    if (row.emphasized) {
      cells.back() = fmt::format("**{}**", cells.back());
    }
    if (!row.span.empty()) {
      cells.push_back(markdown_escaped(row.span));
    }
    cells.resize(table.columns.size());
    text += line_of(cells);
  }
  return text;
}

}  // namespace

std::string markdown_escaped(std::string_view text) {
  constexpr std::string_view kSpecial = "\\`*_{}<>#|~!&$@";
  std::string out;
  for (const char c : printable(text)) {
    // An unescaped bracket or colon after "]" would make a link.
    const bool link = (c == '(' || c == '[' || c == ':') && out.ends_with(']');
    if (link || kSpecial.find(c) != std::string_view::npos) {
      out += '\\';
    }
    out += c;
  }
  return out;
}

std::string markdown_paragraph(std::string_view text) {
  std::vector<std::string> lines;
  for (const std::string& line : split_at(text, '\n')) {
    lines.push_back(markdown_escaped(line));
  }
  return text.empty() ? "" : fmt::format("{}\n\n", fmt::join(lines, "  \n"));
}

std::string markdown_text(const Document& document) {
  std::vector<std::string> header;
  for (const Note& note : document.header) {
    header.push_back(fmt::format("{}: {}", note.term, markdown_escaped(note.text)));
  }
  std::string text = header.empty() ? "" : fmt::format("{}\n\n", fmt::join(header, "  \n"));
  for (const Table& table : document.tables) {
    if (!table.rows.empty()) {
      text += table.title.empty() ? "" : fmt::format("### {}\n\n", markdown_escaped(table.title));
      text += rows_of(table) + "\n";
    }
    text += markdown_paragraph(table.legend) + markdown_paragraph(table.text);
  }
  for (const Note& note : document.notes) {
    text += fmt::format("- **{}**: {}\n", markdown_escaped(note.term), markdown_escaped(note.text));
  }
  return text;
}

}  // namespace paceline::report
