// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace paceline {

/// The time now, to the second, as records have it: "2026-01-31T17:45:00Z".
std::string utc_now();

}  // namespace paceline
