// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "paceline/records/comm_record.h"

namespace paceline::report {

/// One way to show the records of one run of `paceline comm`.
struct CommFormat {
  std::string_view name;
  std::string (*render)(std::span<const records::CommRecord> records,
                        const records::Environment& environment);
};

/// `table` and `markdown`: one block per operation with what all share above
/// it; `csv`: one line a record under a header; `json`: one array.
std::span<const CommFormat> comm_formats();

/// "4 KiB", "3 B": the largest unit that divides the size.
std::string size_text(std::int64_t bytes);

}  // namespace paceline::report
