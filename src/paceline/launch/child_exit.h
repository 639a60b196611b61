// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>

#include <sys/types.h>

#include "paceline/launch/signals.h"

namespace paceline::launch {

/// How a child process ended.
struct ChildExit {
  int exit_code = 0;       // 128 + signal if a signal killed it
  bool timed_out = false;  // the deadline passed before the end
  int stop_signal = 0;     // the signal that asked this process to stop, or 0
};

/// Waits until `child` has ended and kills the remaining processes of its group. `spawn` must have
/// started it in its own process group. At the deadline, and if this process gets SIGINT, SIGTERM,
/// SIGHUP or SIGUSR1, sends SIGTERM to the group. After `grace`, or at a second such signal, sends
/// SIGKILL.
ChildExit wait_for_child(pid_t child, const SupervisorSignals& signals,
                         std::chrono::milliseconds deadline, std::chrono::milliseconds grace);

/// Returns the waitpid() status of a child that has ended and kills the rest of its process group.
/// Returns nothing while the child runs.
std::optional<int> reap_group(pid_t child);

/// Describes a status of waitpid(): "was killed by signal 9 (Killed)", "ended with exit code 1".
std::string exit_description(int status);

}  // namespace paceline::launch
