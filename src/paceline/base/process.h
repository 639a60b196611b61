// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace paceline {

struct CommandResult {
  std::optional<int> exit_code;  // absent: it was killed, or timed out
  bool timed_out = false;
  std::string output;  // what it wrote on stdout, as far as it came

  bool succeeded() const { return exit_code == 0; }
};

/// Runs `command` (looked up in PATH; no shell) with an empty stdin, collects
/// its stdout and discards its stderr.  At the deadline the command and all
/// that it started are killed.  Nothing where it cannot be started at all, as
/// when there is no such program.  Safe after threads have started.
std::optional<CommandResult> run_command(
    const std::vector<std::string>& command,
    std::chrono::milliseconds deadline);

/// Most physical memory this process held (VmHWM) since its start or the last
/// reset, in bytes; nothing where the kernel does not say.
std::optional<std::int64_t> peak_memory_bytes();

/// Lets the peak begin anew at what is held now; false where the kernel does
/// not allow it.
bool reset_peak_memory();

/// Physical memory of this machine in bytes, or what this process's control
/// group allows, if less.
std::int64_t usable_memory_bytes();

}  // namespace paceline
