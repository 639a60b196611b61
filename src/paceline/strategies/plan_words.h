// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "paceline/plan/comm_plan.h"

namespace paceline::strategies {

// Strategies are written in the words of the plan language.
// NOLINTNEXTLINE(google-build-using-namespace): all of them, in every file
using namespace plan;

}  // namespace paceline::strategies
