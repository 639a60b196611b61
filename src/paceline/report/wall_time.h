// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "paceline/records/run_record.h"

namespace paceline::report {

/// An external record of one rank with one step, of whose configuration nothing else is known.
records::RunRecord one_step_record(const std::string& experiment, const std::string& label,
                                   std::int64_t ns);

/// The record of one execution of a whole command, of which only the wall time is known.
records::RunRecord wall_time_record(const std::string& command, const std::string& started_at,
                                    const records::HostEnvironment& host, std::int64_t wall_ns);

/// Whether `wall_time_record` made the record: its ranks and steps mean nothing.
bool is_wall_time(const records::RunRecord& record);

}  // namespace paceline::report
