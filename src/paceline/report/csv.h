// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "paceline/report/table.h"

namespace paceline::report {

/// The columns' headers and the rows, quoted as in RFC 4180, lines ended by LF.
std::string csv_text(const Table& table);

/// `cell` as one field of a CSV line.
std::string csv_field(std::string_view cell);

}  // namespace paceline::report
