// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "paceline/report/table.h"

namespace paceline::report {

/// Renders a table for a terminal (`table`): title, headers and rows, with two blanks between
/// columns and none at the ends of lines.  No row is wider than 120 columns if the cells allow it:
/// a label that is too long gets its own line above its row, and columns that do not fit follow in
/// a second block of rows.
std::string console_text(const Table& table);

/// Renders all tables, then the notes, each below its term.
std::string console_text(const Document& document);

}  // namespace paceline::report
