// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "paceline/engines/world.h"

namespace paceline::engines {

/// The throughput of a plain TCP stream from one rank to another.
struct LineRate {
  int from = 0, to = 1;
  double bytes_per_s = 0;
};

/// Measures the line rate between two neighboring ranks: one TCP connection, in one direction,
/// without other traffic of this job.  The two are the first ranks r and r+1 on different hosts,
/// else 0 and 1. The rate is that of the fastest of several sections of the stream, so it is the
/// highest rate that the line carried, not the average.
///
/// All ranks of a world of at least two must call it; all get the result. `name` must be new in
/// `store`; the stream uses `interface`.  Throws WorldError if a connection fails or moves no bytes
/// for `timeout`.
LineRate measure_line_rate(const World& world, launch::PrefixStore& store, const std::string& name,
                           const std::string& interface, std::chrono::milliseconds timeout);

}  // namespace paceline::engines
