// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace paceline::rank {

/// The key of the job's store that holds the text of the JobSpec.
inline constexpr const char* kJobKey = "job";

/// The hidden subcommand by which this program starts a rank.
inline constexpr const char* kRank = "rank";

/// The words that start a rank; `timeout` in seconds, `interface` may be empty.
std::vector<std::string> rank_command(double timeout, const std::string& interface);

/// One rank that this program started: reads the job from the store and runs one repetition of it.
/// `interface` is the network interface of this host. Returns the exit code.
int run_rank(std::chrono::milliseconds timeout, const std::string& interface);

}  // namespace paceline::rank
