// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "paceline/case/machine.h"
#include "paceline/case/raw_settings.h"

namespace paceline::cases {

/// The worlds that a value of `ranks` stands for here: a number itself;
/// `world` all ranks that were started together, else 1; `max` one rank for
/// each core or GPU; `auto` `least`, a power of two, doubled up to max, and max; `max:8`, `auto:8`
/// at most 8; `dlperf` 1, all of a host, of two and of four.
/// Throws UsageError for anything else.
std::vector<int> worlds_of(const RawValue& ranks, const MachineFacts& machine,
                           const std::string& device, int least);

}  // namespace paceline::cases
