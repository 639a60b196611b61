// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "paceline/plan/comm_plan.h"
#include "paceline/plan/plan_input.h"

namespace paceline::plan {

/// After how many steps the planner's variants repeat, from step 1 on (step 0 may differ and never
/// come again); nothing where that is more than `longest`.
std::optional<Step> period_of(const Planner& planner, const PlanInput& input, Step longest);

/// After how many steps the work of all ranks repeats, from step 1 on: what is sent to whom, and
/// what kernels compute on how many elements.  That may be fewer steps than the variants need,
/// which may differ in their buffers alone.
Step period_of_work(const Planner& planner, const PlanInput& input);

/// Whether a step of the period sends what none of the `steps` steps from
/// `first` on sends: other bytes or calls of a pattern, of all ranks together.
bool lacks_traffic(const Planner& planner, const PlanInput& input, Step first, Step steps);

}  // namespace paceline::plan
