// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

#include <sys/types.h>

#include "paceline/launch/supervise.h"

namespace paceline::launch {

/// How one command ended.
struct Ending {
  int exit_code = 0;       // 128 + signal where it was killed
  bool timed_out = false;  // the deadline passed before
  int stop_signal = 0;     // we were asked to stop by it
};

/// Waits until `child`, which `spawn` started, has ended, and leaves no
/// process of its group behind.  At the deadline, and at SIGINT, SIGTERM,
/// SIGHUP or SIGUSR1 to us, it is asked by SIGTERM to end; after `patience`,
/// or at a second signal, it is killed.
Ending attend(pid_t child,
              const SupervisorSignals& signals,
              std::chrono::milliseconds deadline,
              std::chrono::milliseconds patience);

}  // namespace paceline::launch
