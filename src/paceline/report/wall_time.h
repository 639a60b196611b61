// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "paceline/records/run_record.h"

namespace paceline::report {

/// The record of one execution of a whole command, of which only the wall time is known: an
/// external record of one rank with one step.
records::RunRecord wall_time_record(const std::string& command, const std::string& started_at,
                                    const records::HostEnvironment& host, std::int64_t wall_ns);

/// Whether `wall_time_record` made the record: its ranks and steps mean nothing.
bool is_wall_time(const records::RunRecord& record);

}  // namespace paceline::report
