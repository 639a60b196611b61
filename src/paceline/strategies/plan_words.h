// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "paceline/plan/comm_plan.h"

namespace paceline::strategies {

// All files of this module use the names of namespace plan.
// NOLINTNEXTLINE(google-build-using-namespace): all of them, in every file
using namespace plan;

}  // namespace paceline::strategies
