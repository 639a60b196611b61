// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace paceline::launch {

/// The hidden subcommand that runs a command of somebody else.
inline constexpr const char* kCommandGuard = "command-guard";

/// Runs `command`, which may start processes of its own in sessions of their own, and leaves none
/// behind: when the command has ended, when SIGTERM or SIGINT comes, and when the process that
/// started this one dies.  The command gets SIGTERM and two seconds before everything it started is
/// killed.
/// Returns its exit code (128 + signal of a killed one; 127 where it cannot be started).
int guard_command(const std::vector<std::string>& command);

}  // namespace paceline::launch
