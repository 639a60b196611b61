// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "paceline/records/run_record.h"

namespace paceline::report {

/// Returns an external record of one rank with one step of `ns` nanoseconds.  All other keys of its
/// configuration are unstated.
records::RunRecord one_step_record(const std::string& experiment, const std::string& label,
                                   std::int64_t ns);

/// Returns the record of one execution of a whole command, which has only the wall time.
records::RunRecord wall_time_record(const std::string& command, const std::string& started_at,
                                    const records::HostEnvironment& host, std::int64_t wall_ns);

/// Whether wall_time_record() made the record.  Its ranks and steps then have no meaning.
bool is_wall_time(const records::RunRecord& record);

}  // namespace paceline::report
