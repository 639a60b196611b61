// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace paceline::report {

/// `bytes` with a decimal unit (kB, MB, GB = 10^9 B) and three figures.
std::string format_bytes(std::int64_t bytes);

}  // namespace paceline::report
