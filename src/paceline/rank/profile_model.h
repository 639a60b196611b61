// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "paceline/case/case.h"
#include "paceline/cluster/profile_file.h"

namespace paceline::rank {

/// Measures the configuration's network on this machine, on one rank without communication.  Gives,
/// per module and parameter, the median over `c.steps` steps after `c.warmup` others; the update's
/// time; and the process's peak memory.  The whole batch is one micro-batch.  Throws UsageError for
/// an impossible network, device or precision.
cluster::ProfiledModel profile_model(const cases::Case& c);

}  // namespace paceline::rank
