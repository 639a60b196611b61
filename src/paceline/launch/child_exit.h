// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>

#include <sys/types.h>

#include "paceline/launch/signals.h"

namespace paceline::launch {

/// How a child process ended.
struct ChildExit {
  int exit_code = 0;       // 128 + signal where it was killed
  bool timed_out = false;  // the deadline passed first
  int stop_signal = 0;     // the signal that asked this process to stop, or 0
};

/// Waits until `child`, which `spawn` started in a group of its own, has ended, and leaves no
/// process of its group behind.  At the deadline, and at SIGINT, SIGTERM, SIGHUP or SIGUSR1 to this
/// process, sends it SIGTERM; after `grace`, or at a second request, SIGKILL.
ChildExit wait_for_child(pid_t child, const SupervisorSignals& signals,
                         std::chrono::milliseconds deadline, std::chrono::milliseconds grace);

/// The status of a child that has ended, as waitpid says it; nothing while it runs.  Kills what is
/// left of its process group.
std::optional<int> reap_group(pid_t child);

/// "was killed by signal 9 (Killed)", "ended with exit code 1", of a status of waitpid().
std::string how_it_ended(int status);

}  // namespace paceline::launch
