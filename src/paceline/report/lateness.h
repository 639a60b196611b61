// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "paceline/records/run_record.h"

namespace paceline::report {

/// By how many of the newest steps of a neighbor averages were late that take
/// what has arrived.
struct Lateness {
  double mean_steps = 0;  // over all averages of all ranks and runs
  std::int64_t most_steps = 0;
};

/// Nothing where no average may be late.
std::optional<Lateness> lateness_of(
    const std::vector<const records::RunRecord*>& runs);

}  // namespace paceline::report
