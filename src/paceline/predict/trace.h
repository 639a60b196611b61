// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "paceline/cluster/cluster.h"
#include "paceline/records/trace.h"
#include "paceline/simulator/simulate.h"

namespace paceline::predict {

/// What the simulated ranks did in the last run, as a measured trace tells it. Within each forward
/// and backward lie their modules and gradients, which a run does not time one by one.
std::vector<records::Span> spans_of(const simulator::Job& job,
                                    const simulator::Simulator& simulator);

/// The host of each simulated rank, and for how many others it stands.
std::map<int, std::string> rank_names(const simulator::Job& job, const cluster::Cluster& cluster);

}  // namespace paceline::predict
