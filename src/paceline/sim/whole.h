// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "paceline/plan/profile.h"

// Whole-number arithmetic of virtual time: bytes times picoseconds a second
// need more than 64 bits.

namespace paceline::sim {

__extension__ using Wide = unsigned __int128;

/// Picoseconds that `bytes` take at `bytes_per_s`, rounded up.
constexpr plan::Picoseconds transfer_time(std::int64_t bytes,
                                          std::int64_t bytes_per_s) {
  constexpr std::int64_t kSmall = 9'000'000;  // times 10^12 fits 63 bits
  if (bytes < kSmall) {
    return (bytes * plan::kPicosecondsPerSecond + bytes_per_s - 1) /
           bytes_per_s;
  }
  const auto rate = static_cast<Wide>(bytes_per_s);
  const Wide work =
      static_cast<Wide>(bytes) * static_cast<Wide>(plan::kPicosecondsPerSecond);
  return static_cast<plan::Picoseconds>((work + rate - 1) / rate);
}

}  // namespace paceline::sim
