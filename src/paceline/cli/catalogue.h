// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "paceline/case/machine.h"

namespace paceline::cli {

/// The facts about this machine that an experiment needs. `ranks_per_host` is that of the ranks
/// that were started together; empty if none were.
cases::MachineFacts machine_here(std::vector<int> ranks_per_host);

}  // namespace paceline::cli
