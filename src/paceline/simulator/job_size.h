// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "paceline/simulator/job.h"
#include "paceline/simulator/rank_program.h"

namespace paceline::simulator {

/// Throws UsageError where the simulated ranks' steps would have more than
/// kMostItems ops, or messages.  Plans a step of rank 0, and where its ops are
/// not too many one of each.
void check_size(RankPrograms& programs,
                const Classes& classes,
                const JobOptions& options);

}  // namespace paceline::simulator
