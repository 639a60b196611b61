// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "paceline/case/job_spec.h"
#include "paceline/launch/detect_launch.h"

namespace paceline::front {

/// How many ranks each host has, hosts in the order of their first rank.
/// Throws UsageError where a host's ranks do not follow each other, because cases take ranks 0 ..
/// k-1 and mean whole hosts.
std::vector<int> count_by_host(const std::vector<std::string>& host_of_rank);

/// Resolves the job in a joined world, whose ranks on this host may use so many cores.  Throws
/// UsageError.
using ResolveJob =
    std::function<cases::JobSpec(const std::vector<std::string>& host_of_rank, int cores)>;

/// One rank that torchrun, mpirun or srun started: joins its world, where rank 0 hands out the job,
/// runs all repetitions, and on rank 0 prints the results. Every rank resolves the job, because
/// each host may find a mistake of its own, of which one rank tells the user.  Returns the exit
/// code.
int run_launched_rank(const launch::Launch& launch, std::chrono::milliseconds timeout,
                      const ResolveJob& resolve);

}  // namespace paceline::front
