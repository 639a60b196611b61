// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "paceline/case/job_spec.h"
#include "paceline/launch/detect_launch.h"

namespace paceline::front {

/// Returns the number of ranks of each host, with the hosts in the order of their first rank.
/// Throws UsageError if the ranks of a host are not consecutive, because a case of k ranks runs on
/// ranks 0 to k - 1 and relies on whole hosts.
std::vector<int> count_by_host(const std::vector<std::string>& host_of_rank);

/// Resolves the job in a joined world; the ranks on this host may use `cores` cores.  Throws
/// UsageError.
using ResolveJob =
    std::function<cases::JobSpec(const std::vector<std::string>& host_of_rank, int cores)>;

/// Runs one rank that torchrun, mpirun or srun started: it joins its world, reads the job from rank
/// 0, runs all repetitions and, on rank 0, prints the results.  Every rank resolves the job,
/// because a host may find a mistake that other hosts do not; one rank reports it to the user.
/// Returns the exit code.
int run_launched_rank(const launch::Launch& launch, std::chrono::milliseconds timeout,
                      const ResolveJob& resolve);

}  // namespace paceline::front
