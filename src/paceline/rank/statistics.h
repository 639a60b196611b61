// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "paceline/plan/comm_plan.h"
#include "paceline/records/configuration.h"
#include "paceline/runtime/memory.h"
#include "paceline/runtime/shape.h"

namespace paceline::rank {

/// `parameters`, beside which the network's statistics are averaged where the
/// configuration asks for it (`average_buffers`).  Throws UsageError where the network keeps none,
/// as one without batch norm.
std::unique_ptr<plan::Planner> with_statistics(const records::Configuration& configuration,
                                               const runtime::TracedNetwork& network,
                                               std::unique_ptr<plan::Planner> parameters);

/// Makes the network's statistics views of Setup::statistics, with their values; does nothing where
/// the setup has none.
void adopt_statistics(const runtime::TracedNetwork& network, const runtime::FlatMemory& memory);

}  // namespace paceline::rank
