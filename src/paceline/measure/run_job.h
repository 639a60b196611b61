// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "paceline/cluster/cluster.h"
#include "paceline/experiment/job_spec.h"

namespace paceline::measure {

/// Starts the ranks of each repetition in fresh processes, on this machine or
/// on a cluster's hosts, supervises them, and prints the results.  Returns the
/// exit code.
int run_job(experiment::JobSpec job,
            const std::optional<cluster::Cluster>& cluster);

}  // namespace paceline::measure
