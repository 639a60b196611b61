// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "paceline/records/comm_record.h"

namespace paceline::report {

/// The records of one run.  `table`: one block per operation with what all
/// share above it; `csv`: one line a record under a header; `json`: one array.
/// Throws UsageError with the known names for another format.
std::string render_comm(std::string_view format,
                        std::span<const records::CommRecord> records,
                        const records::Environment& environment);

}  // namespace paceline::report
