// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace paceline {

struct CommandResult {
  std::optional<int> exit_code;  // absent: the command was killed, or timed out
  bool timed_out = false;
  std::string output, errors;  // what the command wrote on stdout and stderr until its end

  bool succeeded() const { return exit_code == 0; }
};

/// Runs `command` (looked up in PATH; no shell) with `input` on its stdin, and collects its stdout
/// and stderr.  At the deadline the command and all processes that it started are killed.  Returns
/// nothing if the command cannot be started, for example because there is no such program.  May be
/// called while other threads run.
std::optional<CommandResult> run_command(const std::vector<std::string>& command,
                                         std::chrono::milliseconds deadline,
                                         std::string_view input = "");

/// Returns this process's environment as NAME=value; variables in `more` replace those with the
/// same name.
std::vector<std::string> environment_with(const std::map<std::string, std::string>& more);

/// Returns pointers into `texts`, which must outlive them, and a final null pointer, as exec and
/// spawn take them.
std::vector<char*> exec_pointers(const std::vector<std::string>& texts);

/// Returns the CPUs in the affinity mask of the calling thread, ascending.
std::vector<int> allowed_cpus();

/// From now on, freed memory stays in this process until the next reset_peak_memory().  A training
/// step allocates the gradients of the step before again; glibc would return large blocks to the
/// system, and Linux would map and zero each page anew.  Without glibc this does nothing. Because
/// kept memory profits from huge pages, PyTorch is told to request them, unless
/// THP_MEM_ALLOC_ENABLE is set in the environment or PyTorch has allocated memory before.
void keep_freed_memory();

/// Returns the most physical memory that this process held (VmHWM) since its start or the last
/// reset, in bytes; nothing if the kernel does not report it.
std::optional<std::int64_t> peak_memory_bytes();

/// Resets the peak to the memory that is held now; returns false if the kernel does not allow it.
bool reset_peak_memory();

/// Returns the physical memory of this machine in bytes, or this process's control group limit, if
/// less.
std::int64_t usable_memory_bytes();

}  // namespace paceline
