// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>

#include "paceline/records/run_record.h"

namespace paceline::rank {

/// Adds the warning that ranks share cores, which the record's own figures do not show.
void add_warnings(const records::Configuration& configuration,
                  const records::Environment& environment, records::RunRecord& record);

/// A warning that other programs compute on `host`: its load average of one minute is above its
/// `cores`, and more than one above `own`, the threads with which this program computes there.
/// Nothing where the load shows none.
std::optional<records::Warning> busy_warning(const std::string& host, double load, int cores,
                                             int own);

/// A warning that other programs compute on this machine, `host`, at the moment of the call, or on
/// any host when the environment was collected.  `own` is as in busy_warning().
std::optional<records::Warning> busy_machine(const records::Environment& environment,
                                             const std::string& host, int own);

/// A warning that a case of DLPerf's protocol has fewer steps or runs than the protocol; nothing
/// where it has not.
std::optional<records::Warning> shortened_protocol(const records::Configuration& configuration,
                                                   int runs);

/// The most threads with which one of the cases computes on a host that has
/// `local_ranks` ranks.  A program outside may start as many for each rank as
/// the host has cores.
int most_threads(std::span<const records::Configuration> cases, int local_ranks, int cores);

}  // namespace paceline::rank
