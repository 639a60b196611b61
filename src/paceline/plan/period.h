// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "paceline/plan/comm_plan.h"
#include "paceline/plan/plan_input.h"

namespace paceline::plan {

/// The number of steps after which the planner's variants repeat, from step 1 on (step 0 may have a
/// variant that never comes again); nullopt if that is more than `longest`.
std::optional<Step> period_of(const Planner& planner, const PlanInput& input, Step longest);

/// The number of steps after which the work of all ranks repeats, from step 1 on: the sizes and
/// peers of messages, and the numbers of elements that kernels compute.  It may be smaller than the
/// period of the variants, because variants may differ in their buffers only.
Step period_of_work(const Planner& planner, const PlanInput& input);

/// Whether the steps `first` to `first + steps - 1` lack traffic that some other step of the period
/// has. The traffic of a step is the bytes and calls of each pattern, summed over all ranks.
bool misses_traffic_of_period(const Planner& planner, const PlanInput& input, Step first,
                              Step steps);

}  // namespace paceline::plan
