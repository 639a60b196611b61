// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "paceline/plan/plan_input.h"
#include "paceline/records/configuration.h"

namespace paceline::measure {

/// What plans know of a configuration's network: the profile's that it replays,
/// else traces it with two samples on the CPU.  Throws UsageError for an
/// unknown network or precision, and for an image that is too small.
plan::ModelShape shape_of(const records::Configuration& configuration);

/// What a planner is told of the case, on rank 0 of its ranks.
plan::PlanInput plan_input_of(const records::Configuration& configuration,
                              plan::ModelShape shape);

/// Gives the input the times that the configuration knows and the input lacks:
/// the layers of its replay, the collectives of its link.
void add_known_times(const records::Configuration& configuration,
                     plan::PlanInput& input);

}  // namespace paceline::measure
