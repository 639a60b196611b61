// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace paceline::rank {

/// The key of the job's store that holds the JobSpec as text.
inline constexpr const char* kJobKey = "job";

/// The hidden subcommand by which this program starts a rank.
inline constexpr const char* kRankSubcommand = "rank";

/// Returns the command that starts a rank; `timeout` is in seconds, `interface` may be empty.
std::vector<std::string> rank_command(double timeout, const std::string& interface);

/// Runs one rank that this program started: reads the job from the store and runs one repetition of
/// it.  `interface` is the network interface of this host.  Returns the exit code.
int run_rank(std::chrono::milliseconds timeout, const std::string& interface);

}  // namespace paceline::rank
