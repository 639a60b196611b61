// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "paceline/plan/cluster.h"
#include "paceline/record/trace.h"
#include "paceline/sim/simulate.h"

namespace paceline::sim {

/// What the simulated ranks did in the last run, as a measured trace tells it.
/// Within each forward and backward lie their modules and gradients, which a
/// run does not time one by one.
std::vector<record::Span> spans_of(const Job& job, const Simulator& simulator);

/// The host of each simulated rank, and for how many others it stands.
std::map<int, std::string> rank_names(const Job& job,
                                      const plan::Cluster& cluster);

}  // namespace paceline::sim
