// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "paceline/case/case.h"
#include "paceline/plan/comm_plan.h"
#include "paceline/runtime/memory.h"
#include "paceline/runtime/shape.h"

namespace paceline::rank {

/// Returns a planner that also averages the batch norm statistics of the network, beside the plan
/// of `parameters`, if the configuration asks for it (`average_buffers`); else `parameters`.
/// Throws UsageError if the network has no such statistics.
std::unique_ptr<plan::Planner> add_statistics_averaging(const cases::Case& configuration,
                                                        const runtime::TracedNetwork& network,
                                                        std::unique_ptr<plan::Planner> parameters);

/// Turns the network's statistics into views of Setup::statistics, and keeps their values.  Does
/// nothing if the setup has no statistics.
void adopt_statistics(const runtime::TracedNetwork& network, const runtime::FlatMemory& memory);

}  // namespace paceline::rank
