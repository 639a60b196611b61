// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "paceline/report/table.h"

namespace paceline::report {

/// Renders the columns' headers and the rows as CSV, quoted as in RFC 4180, with lines that end in
/// LF.
std::string csv_text(const Table& table);

/// Returns `cell` as one field of a CSV line.
std::string csv_field(std::string_view cell);

}  // namespace paceline::report
