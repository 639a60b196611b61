// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "paceline/plan/alpha_beta.h"
#include "paceline/sim/collective_model.h"
#include "paceline/sim/machine.h"

namespace paceline::sim {

/// What planners know of the machine's communication, as one line per
/// operation through its times at nothing and at 64 MiB.
plan::AlphaBeta alpha_beta_of(const Machine& machine,
                              const SoftwareCosts& software,
                              const Group& group);

}  // namespace paceline::sim
