// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace paceline::launch {

/// The hidden subcommand that runs a user's command under guard_command().
inline constexpr const char* kCommandGuard = "command-guard";

/// Runs `command` and kills every process that it started, even those in sessions of their own.
/// This happens when the command ends, at SIGTERM, SIGINT or SIGHUP, and when the process that
/// started this one dies. A command that is still running first gets SIGTERM and two seconds.
/// Returns the exit code of the command: 128 + signal if a signal killed it, 127 if it cannot be
/// started.
int guard_command(const std::vector<std::string>& command);

}  // namespace paceline::launch
