// SPDX-License-Identifier: Apache-2.0
#include "paceline/report/console.h"

#include <fmt/format.h>

#include "paceline/report/layout.h"
#include "paceline/report/sheet.h"

namespace paceline::report {
namespace {

std::string grid_text(const Sheet& sheet) {
  Grid grid(sheet.columns);
  for (const Sheet::Line& line : sheet.lines) {
    if (line.sentence.empty()) {
      grid.add_row(line.cells);
    } else {
      grid.add_sentence(line.cells, line.sentence);
    }
  }
  return grid.text();
}

std::string head(const std::string& term) {
  return fmt::format("{:<12}", term);
}

}  // namespace

std::string render_table(std::span<const records::RunRecord> records) {
  const Sheets sheets = make_sheets(summarize(records), Detail::kShort);
  std::string text;
  for (const Sheet& sheet : sheets.tables) {
    text += sheet.heading + "\n\n" + grid_text(sheet) + "\n";
  }
  for (const Meaning& meaning : sheets.meanings) {
    text += hanging(head(meaning.term), meaning.text);
  }
  for (std::size_t i = 0; i < sheets.notes.size(); ++i) {
    text += hanging(head(fmt::format("[{}]", i + 1)), sheets.notes[i]);
  }
  return text;
}

}  // namespace paceline::report
