// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "paceline/report/table.h"

namespace paceline::report {

/// `table` for a terminal: title, headers and rows in columns that are two
/// blanks apart, without blanks at the ends of lines.  No line of the rows is wider than 120
/// columns where the cells allow it: a label that is too long has a line of its own above its row,
/// and columns that do not fit follow in
/// a second block of rows.
std::string console_text(const Table& table);

/// All tables, then the notes, each under its term.
std::string console_text(const Document& document);

}  // namespace paceline::report
