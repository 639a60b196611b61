// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>

#include "paceline/base/error.h"
#include "paceline/plan/profile.h"

// Integer arithmetic of virtual time, in 128 bits where 64 bits are not enough for bytes times
// picoseconds per second.

namespace paceline::plan {

__extension__ using Uint128 = unsigned __int128;
__extension__ using Int128 = __int128;

/// The end of virtual time, after 53 days.  It is half of the largest 64-bit number of picoseconds,
/// so that sums with it do not overflow.
inline constexpr Picoseconds kEndOfTime = std::numeric_limits<Picoseconds>::max() / 2;

/// Returns `time`.  Throws UsageError if it is after the end of virtual time.
constexpr Picoseconds checked_time(Uint128 time) {
  if (time > static_cast<Uint128>(kEndOfTime)) {
    throw UsageError(
        "the simulated time is longer than 53 days; give faster links or a smaller job");
  }
  return static_cast<Picoseconds>(time);
}

/// Returns `now` + `duration`; neither may be negative.  Throws UsageError as checked_time().
constexpr Picoseconds later(Picoseconds now, Int128 duration) {
  return checked_time(static_cast<Uint128>(now) + static_cast<Uint128>(duration));
}

/// Returns bytes * weight / one, where the weight `one` stands for 1; the product may need more
/// than 64 bits.
constexpr std::int64_t scaled_bytes(std::int64_t bytes, std::int64_t weight, std::int64_t one) {
  return static_cast<std::int64_t>(Int128{bytes} * weight / one);
}

/// Returns the picoseconds that sending `bytes` takes at `bytes_per_s`, rounded up.
constexpr Picoseconds wire_time(std::int64_t bytes, std::int64_t bytes_per_s) {
  constexpr std::int64_t kSmall = 4'000'000;  // bytes; they need less than kEndOfTime at 1 byte/s
  if (bytes < kSmall) {
    return (bytes * kPicosecondsPerSecond + bytes_per_s - 1) / bytes_per_s;
  }
  const auto rate = static_cast<Uint128>(bytes_per_s);
  const Uint128 work = static_cast<Uint128>(bytes) * static_cast<Uint128>(kPicosecondsPerSecond);
  return checked_time((work + rate - 1) / rate);
}

}  // namespace paceline::plan
