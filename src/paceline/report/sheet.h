// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "paceline/report/bases.h"
#include "paceline/report/layout.h"
#include "paceline/report/summary.h"

namespace paceline::report {

/// A table in words, before anything decides how it is laid out: the terminal,
/// Markdown and the page show the same sheets.  No text holds a control
/// character.
struct Sheet {
  struct Line {
    std::vector<std::string> cells;  // one a column, or only the first ones
    std::string sentence{};          // over the other columns: why it failed
    std::string link{};              // on the page: the place to go on reading
  };
  std::string heading;  // what all rows share: "resnet18, batch 8: fp32 on cpu"
  std::vector<Grid::Column> columns{};
  std::vector<Line> lines{};  // in the order of the table's rows
};

struct Meaning {
  std::string term;
  std::string text;
};

struct Sheets {
  std::vector<Sheet> tables;
  std::vector<Meaning> meanings;   // of the columns that hold figures
  std::vector<std::string> notes;  // "[1]" in a line is the first of them
};

/// How much a line says.
enum class Detail : std::uint8_t {
  kShort,  // what a terminal has room for
  kFull    // with every interval, memory, and numbers of runs and steps
};

Sheets make_sheets(const std::vector<Table>& tables, Detail detail);

/// The kinds of the intervals that these rows show.
Bases bases_of(const std::vector<Row>& rows, Detail detail);

/// What the columns that have figures in these rows mean.
std::vector<Meaning> meanings_of(const std::vector<Row>& rows, Detail detail);

}  // namespace paceline::report
