// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "paceline/bench/bulletin.h"
#include "paceline/comm/world.h"
#include "paceline/record/run_record.h"

namespace paceline::bench {

/// Versions of the program and its libraries, and this machine; the same on
/// every rank once each host has told its facts.  Collective over the world.
/// `usable_cores` are those of this host (bench/host_cores.h).
record::Environment exchange_environment(const comm::World& world,
                                         Bulletin& bulletin,
                                         int usable_cores);

/// The first difference between the hosts, in words; empty where there is
/// none.
std::string host_differences(const record::Environment& environment);

}  // namespace paceline::bench
