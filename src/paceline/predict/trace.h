// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "paceline/cluster/cluster.h"
#include "paceline/records/trace.h"
#include "paceline/simulator/simulate.h"

namespace paceline::predict {

/// Returns what the simulated ranks did in the last run, in the form of a measured trace.  Unlike
/// in a measured trace, each forward and backward contains spans of its modules and gradients.
std::vector<records::Span> spans_of(const simulator::Job& job,
                                    const simulator::Simulator& simulator);

/// Returns the host of each simulated rank, and the number of other ranks for which it stands.
std::map<int, std::string> rank_names(const simulator::Job& job, const cluster::Cluster& cluster);

}  // namespace paceline::predict
