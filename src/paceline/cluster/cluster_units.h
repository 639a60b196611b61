// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

// Quantities as people write them in cluster files and flags: a number and a unit, with or without
// a blank between them.  Prefixes are decimal (k, M, G, T) or binary (Ki, Mi, Gi).  `what` is the
// key or flag that errors name. All functions throw UsageError with the offending text and the
// allowed units.

namespace paceline::cluster {

/// Parses "10Gbit", "10 Gbit/s", "12.5GB/s" into bytes per second, above 0.
double parse_rate(std::string_view what, std::string_view text);

/// Parses "50us", "1.5 ms", "0s" into picoseconds, not negative.  Units: ps ns us ms s.
std::int64_t parse_duration_ps(std::string_view what, std::string_view text);

/// Parses "4KiB", "1.5 MB", "0B" into whole bytes, not negative.
std::int64_t parse_bytes(std::string_view what, std::string_view text);

/// Parses "13.4TFLOP/s", "13.4 TFLOPS" into floating-point operations per second, above 0.
double parse_flops(std::string_view what, std::string_view text);

}  // namespace paceline::cluster
