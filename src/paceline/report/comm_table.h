// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "paceline/records/comm_record.h"

namespace paceline::report {

/// One output format for the records of one run of `paceline comm`.
struct CommFormat {
  std::string_view name;
  std::string (*render)(std::span<const records::CommRecord> records,
                        const records::Environment& environment);
};

/// The formats `table` and `markdown` have one block per operation, with the properties that its
/// records share above it; `csv` has one line per record below a header; `json` has one array.
std::span<const CommFormat> comm_formats();

/// Returns the size in the largest unit that divides it: "4 KiB", "3 B".
std::string size_text(std::int64_t bytes);

}  // namespace paceline::report
