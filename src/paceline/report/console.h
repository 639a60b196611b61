// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "paceline/report/table.h"

namespace paceline::report {

/// `table` for a terminal: title, headers and rows in columns that are two
/// blanks apart, without blanks at the ends of lines.
std::string console_text(const Table& table);

/// All tables, then the notes, each under its term.
std::string console_text(const Document& document);

}  // namespace paceline::report
