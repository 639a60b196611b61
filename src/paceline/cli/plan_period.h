// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "paceline/plan/comm_plan.h"
#include "paceline/plan/plan_input.h"

namespace paceline::cli {

/// The plan of the variant `shown`, one line an operation.  Where the planner's
/// steps differ, a line before it says which steps of a period have this plan,
/// and after it come the other steps, each with the lines in which it differs.
std::string period_text(const plan::Planner& planner,
                        const plan::PlanInput& input,
                        const plan::Setup& setup,
                        plan::Variant shown);

}  // namespace paceline::cli
