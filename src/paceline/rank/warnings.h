// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>

#include "paceline/records/comm_record.h"
#include "paceline/records/run_record.h"

namespace paceline::rank {

/// Adds a warning to the record if ranks or threads shared cores, because its times do not show
/// that.
void add_warnings(records::RunRecord& record);

/// Returns a warning that other programs compute on `host`, or nothing.  It is given if the load
/// average of one minute is above `cores` and at least one above `own`, the number of this
/// program's compute threads on that host.
std::optional<records::Warning> busy_host_warning(const std::string& host, double load, int cores,
                                                  int own);

/// Returns a warning that other programs compute on this machine, `host`, at the moment of the
/// call, or did on any host when the environment was collected.  `own` is as in
/// busy_host_warning().
std::optional<records::Warning> busy_machine_warning(const records::Environment& environment,
                                                     const std::string& host, int own);

/// Returns a warning if an operation was faster than the measured line rate; else nothing.
std::optional<records::Warning> above_line_rate_warning(const records::CommRecord& record);

/// Returns a warning that a case of DLPerf's protocol has fewer steps or runs than the protocol, or
/// nothing if it has as many.
std::optional<records::Warning> shortened_protocol(const cases::Case& configuration, int runs);

/// Returns the most threads with which any case computes on a host that has `local_ranks` ranks.
/// An external program may start as many threads for each rank as the host has `cores`.
int most_threads(std::span<const cases::Case> cases, int local_ranks, int cores);

}  // namespace paceline::rank
