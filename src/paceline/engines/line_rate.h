// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "paceline/engines/world.h"

namespace paceline::engines {

/// Measures how many bytes per second one TCP connection between two ranks moves, in one direction
/// and without other traffic of this job. The two are the first ranks r and r+1 on different hosts,
/// else ranks 0 and 1. The rate is that of the fastest of several sections of the stream, so it is
/// the highest rate that the network carried, not the average.
///
/// All ranks of a world of at least two must call it; all get the result.  The stream uses
/// `interface`.  Throws WorldError if a connection fails or moves no bytes for `timeout`.
double measure_line_rate(const World& world, launch::PrefixStore& store,
                         const std::string& interface, std::chrono::milliseconds timeout);

}  // namespace paceline::engines
