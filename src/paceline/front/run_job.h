// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "paceline/case/job_spec.h"
#include "paceline/cluster/cluster.h"
#include "paceline/front/narrowing.h"
#include "paceline/launch/job_launch.h"

namespace paceline::front {

/// Returns the launch of a job's ranks on the cluster's hosts, or on this machine, with what the
/// engines of its cases need.  Throws UsageError if the ranks cannot be started there.
launch::JobLaunch launch_of_job(const cases::JobSpec& job,
                                const std::optional<cluster::Cluster>& cluster);

/// Starts the ranks of each repetition of the cases, or those of the operations, in fresh processes
/// on this machine or on a cluster's hosts, supervises them, and prints the results.  With
/// `narrowing`, then repeats single cases, the widest first, until all are narrow enough or a limit
/// of `narrowing` is reached.  Returns the exit code.
int run_job(cases::JobSpec job, const std::optional<cluster::Cluster>& cluster,
            const std::optional<NarrowingOptions>& narrowing = {});

}  // namespace paceline::front
