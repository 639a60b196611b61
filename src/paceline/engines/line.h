// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "paceline/engines/world.h"

namespace paceline::engines {

/// What carries a plain stream of bytes between two ranks.
struct LineStream {
  int from = 0, to = 1;
  double bytes_per_s = 0;  // the fastest stretch
};

/// Bandwidth of the line between two neighboring ranks: one TCP connection,
/// one way, nothing else going on, between these very processes.  The pair is
/// the first of ranks r and r+1 on different hosts, else 0 and 1.  The rate is
/// that of the fastest of several stretches of the stream, so it is what the
/// line can do, not what it did on average.
///
/// Collective over the world, of at least two ranks; all get the result.
/// `name` is new in the job; the stream goes over `interface`.  Throws
/// WorldError where a connection fails or stands still for `timeout`.
LineStream measure_line(const World& world,
                        const std::string& name,
                        const std::string& interface,
                        std::chrono::milliseconds timeout);

}  // namespace paceline::engines
