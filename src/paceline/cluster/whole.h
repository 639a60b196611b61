// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>

#include "paceline/base/error.h"
#include "paceline/plan/profile.h"

// Whole-number arithmetic of virtual time: bytes times picoseconds a second
// need more than 64 bits.

namespace paceline::cluster {

__extension__ using Wide = unsigned __int128;
__extension__ using Signed = __int128;

/// Virtual time ends after 53 days, far enough below the last picosecond of 64
/// bits that what is added to it does not overflow.
inline constexpr plan::Picoseconds kEndOfTime =
    std::numeric_limits<plan::Picoseconds>::max() / 2;

/// `time`, which must be within virtual time.
constexpr plan::Picoseconds within_time(Wide time) {
  if (time > static_cast<Wide>(kEndOfTime)) {
    throw UsageError(
        "the simulated time is longer than 53 days; give faster links or a "
        "smaller job");
  }
  return static_cast<plan::Picoseconds>(time);
}

/// `now` + `duration`, neither of them negative.
constexpr plan::Picoseconds later(plan::Picoseconds now, Signed duration) {
  return within_time(static_cast<Wide>(now) + static_cast<Wide>(duration));
}

/// bytes * weight / one, where the product may need more than 64 bits.
constexpr std::int64_t weighted(std::int64_t bytes,
                                std::int64_t weight,
                                std::int64_t one) {
  return static_cast<std::int64_t>(Signed{bytes} * weight / one);
}

/// Picoseconds that `bytes` take at `bytes_per_s`, rounded up.
constexpr plan::Picoseconds transfer_time(std::int64_t bytes,
                                          std::int64_t bytes_per_s) {
  constexpr std::int64_t kSmall = 4'000'000;  // within virtual time at any rate
  if (bytes < kSmall) {
    return (bytes * plan::kPicosecondsPerSecond + bytes_per_s - 1) /
           bytes_per_s;
  }
  const auto rate = static_cast<Wide>(bytes_per_s);
  const Wide work =
      static_cast<Wide>(bytes) * static_cast<Wide>(plan::kPicosecondsPerSecond);
  return within_time((work + rate - 1) / rate);
}

}  // namespace paceline::cluster
