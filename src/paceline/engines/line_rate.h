// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "paceline/engines/world.h"

namespace paceline::engines {

/// The rate of a plain TCP stream between two ranks.
struct LineRate {
  int from = 0, to = 1;
  double bytes_per_s = 0;
};

/// Measures the line rate between two neighboring ranks: one TCP connection, one way, with no other
/// traffic of this job.  The two are the first ranks r and r+1 on different hosts, else 0 and 1.
/// The rate is that of the fastest of several stretches of the stream, so it is the most that the
/// line carried, not the average.
///
/// Collective over the world, of at least two ranks; all get the result.
/// `name` is new in `store`; the stream uses `interface`.  Throws WorldError
/// where a connection fails or stands still for `timeout`.
LineRate measure_line_rate(const World& world, launch::PrefixStore& store, const std::string& name,
                           const std::string& interface, std::chrono::milliseconds timeout);

}  // namespace paceline::engines
