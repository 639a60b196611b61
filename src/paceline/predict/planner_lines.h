// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "paceline/cluster/collective_model.h"
#include "paceline/cluster/machine.h"
#include "paceline/plan/alpha_beta.h"

namespace paceline::predict {

/// What planners know of the machine's communication: one line per operation
/// through its times at 0 bytes and at 64 MiB.  The start-up is that of a
/// collective which starts while its ranks compute.
plan::AlphaBeta alpha_beta_of(const cluster::Machine& machine,
                              const cluster::SoftwareCosts& software,
                              const cluster::Group& group);

}  // namespace paceline::predict
