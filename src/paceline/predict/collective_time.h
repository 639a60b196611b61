// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "paceline/cluster/cluster.h"
#include "paceline/cluster/collective_model.h"
#include "paceline/cluster/machine.h"

// Times of collectives that run alone on a machine.

namespace paceline::predict {

/// Returns the seconds of a collective that runs alone on the machine, software costs included.
double collective_s(const cluster::CollectiveCall& call, const cluster::Machine& machine,
                    const cluster::SoftwareCosts& software);

/// Returns a lower bound on the seconds of the collective: the time at the link rates alone, for
/// the engine whose algorithm moves the fewest bytes.
double least_possible_s(const cluster::CollectiveCall& call, const cluster::Cluster& cluster);

}  // namespace paceline::predict
