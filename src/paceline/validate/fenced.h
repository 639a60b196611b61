// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "paceline/plan/comm_plan.h"

namespace paceline::validate {

/// The same programs with every update behind the last collective, as
/// Horovod's step() waits for all before the optimizer begins.
std::unique_ptr<plan::Planner> fenced(std::unique_ptr<plan::Planner> planner);

}  // namespace paceline::validate
