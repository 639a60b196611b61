// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "paceline/cluster/cluster.h"
#include "paceline/experiment/order.h"

namespace paceline::cli {

/// Starts the ranks on this machine, or on a cluster's hosts, for each
/// repetition in fresh processes, watches over them, and shows the results.
int run_local(experiment::Order order,
              const std::optional<cluster::Cluster>& cluster,
              const std::vector<std::string>& command_line);

}  // namespace paceline::cli
