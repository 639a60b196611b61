// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "paceline/cluster/collective_model.h"
#include "paceline/cluster/machine.h"
#include "paceline/plan/alpha_beta.h"

namespace paceline::predict {

/// What planners know of the machine's communication, as one line per
/// operation through its times at nothing and at 64 MiB.
plan::AlphaBeta alpha_beta_of(const cluster::Machine& machine,
                              const cluster::SoftwareCosts& software,
                              const cluster::Group& group);

}  // namespace paceline::predict
