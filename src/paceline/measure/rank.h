// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "paceline/experiment/job_spec.h"
#include "paceline/launch/detect_launch.h"

namespace paceline::measure {

/// The key of the job's store that holds the text of the JobSpec.
inline constexpr const char* kJobKey = "job";

/// The hidden subcommand by which this program starts a rank.
inline constexpr const char* kRank = "rank";

/// The words that start a rank; `timeout` in seconds, `interface` may be empty.
std::vector<std::string> rank_command(double timeout,
                                      const std::string& interface);

/// One rank that this program started: reads from the store what to do, and
/// runs one repetition of a job (`paceline run`) or measures operations
/// (`paceline comm`).  `interface` is the network interface of this host.
/// Returns the exit code.
int run_rank(std::chrono::milliseconds timeout, const std::string& interface);

/// Resolves the job in a joined world with so many ranks on each host, all of
/// which may use so many cores of this one.  Throws UsageError.
using ResolveJob = std::function<experiment::JobSpec(
    std::vector<int> ranks_per_host, int cores)>;

/// One rank that torchrun, mpirun or srun started: joins its world, where rank
/// 0 hands out the job, runs all repetitions, and on rank 0 prints the results.
/// Every rank resolves the job, because each host may find a mistake of its
/// own, of which one rank tells the user.  Returns the exit code.
int run_launched_rank(const launch::Launch& launch,
                      std::chrono::milliseconds timeout,
                      const ResolveJob& resolve);

}  // namespace paceline::measure
