// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

// Quantities as people write them in cluster files and flags: a number and a unit, with or without
// a blank between them.  Prefixes are decimal (k, M, G,
// T) or binary (Ki, Mi, Gi).  `what` is the key or flag that an error names.
// All throw UsageError with the offending text and the units allowed.

namespace paceline::cluster {

/// "10Gbit", "10 Gbit/s", "12.5GB/s": bytes per second, above 0.
double parse_rate(std::string_view what, std::string_view text);

/// "50us", "1.5 ms", "0s": picoseconds, not negative.  Units ps ns us ms s.
std::int64_t parse_duration_ps(std::string_view what, std::string_view text);

/// "4KiB", "1.5 MB", "0B": whole bytes, not negative.
std::int64_t parse_bytes(std::string_view what, std::string_view text);

/// "13.4TFLOP/s", "13.4 TFLOPS": floating-point operations per second, above 0.
double parse_flops(std::string_view what, std::string_view text);

}  // namespace paceline::cluster
