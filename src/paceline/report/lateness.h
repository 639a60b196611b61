// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "paceline/records/run_record.h"

namespace paceline::report {

/// The staleness of averages that do not wait: by how many steps a neighbor's
/// values were older than its newest ones.
struct Lateness {
  double mean_steps = 0;  // over all averages of all ranks and runs
  std::int64_t most_steps = 0;
};

/// Nothing where no average may be late.
std::optional<Lateness> lateness_of(
    const std::vector<const records::RunRecord*>& runs);

}  // namespace paceline::report
