// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
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

/// Runs `command` (looked up in PATH; no shell) with an empty stdin, collects its stdout and
/// discards its stderr.  At the deadline the command and all that it started are killed.  Nothing
/// where it cannot be started at all, as when there is no such program.  Safe after threads have
/// started.
std::optional<CommandResult> run_command(const std::vector<std::string>& command,
                                         std::chrono::milliseconds deadline);

/// This process's environment as NAME=value, without the variables `without` names, and with `more`
/// in place of what is there of these names.
std::vector<std::string> environment_with(const std::map<std::string, std::string>& more,
                                          const std::vector<std::string>& without = {});

/// What exec and spawn take: pointers into `texts`, which must outlive them, and a null at the end.
std::vector<char*> exec_pointers(const std::vector<std::string>& texts);

/// Cores that the calling thread may run on.
int available_cores();

/// From now on, memory that is freed stays in this process until the next reset_peak_memory().  A
/// training step allocates the gradients of the step before again; glibc would return large ones to
/// the system, and Linux would map and zero each page anew.  Elsewhere than on glibc, nothing.
/// Memory that is kept is worth huge pages: PyTorch asks for them, unless THP_MEM_ALLOC_ENABLE of
/// the environment says otherwise or PyTorch has allocated before.
void keep_freed_memory();

/// Most physical memory this process held (VmHWM) since its start or the last reset, in bytes;
/// nothing where the kernel does not say.
std::optional<std::int64_t> peak_memory_bytes();

/// Lets the peak begin anew at what is held now; false where the kernel does not allow it.
bool reset_peak_memory();

/// Physical memory of this machine in bytes, or what this process's control group allows, if less.
std::int64_t usable_memory_bytes();

}  // namespace paceline
