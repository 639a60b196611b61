// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "paceline/records/comm_record.h"
#include "paceline/report/command_output.h"

namespace paceline::report {

/// Returns the output of `paceline comm`: one table per operation, below a heading with the
/// properties that its records share. The CSV form has one line per record, the JSON form one
/// array.
CommandOutput comm_output(std::span<const records::CommRecord> records,
                          const records::Environment& environment);

/// Returns the size in the largest unit that divides it: "4 KiB", "3 B".
std::string size_text(std::int64_t bytes);

}  // namespace paceline::report
