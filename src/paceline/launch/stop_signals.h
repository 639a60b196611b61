// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "paceline/launch/blocked_signals.h"

namespace paceline::launch {

/// Thrown where a step or a wait notices that the session shall end.
struct StopRequested {
  int signal = 0;
};

/// The signal by which this process is asked to stop, SIGTERM before SIGUSR1;
/// 0: none, also where no StopSignals lives.  Costs one system call.
inline int requested_stop() {
  return pending_of({SIGTERM, SIGUSR1});
}

/// Throws StopRequested where there is one.
inline void throw_if_stop_requested() {
  if (const int signal = requested_stop(); signal != 0) {
    throw StopRequested{signal};
  }
}

/// SIGTERM and SIGUSR1 as requests to stop after the current step.  Requests
/// that are pending at destruction are discarded.  A rank that does not look at
/// them is ended by its launcher's SIGKILL.
class StopSignals : private BlockedSignals {
 public:
  StopSignals() : BlockedSignals({SIGTERM, SIGUSR1}) {}
  // A request that was followed must not kill when signals are unblocked.
  ~StopSignals() {
    while (wait(std::chrono::milliseconds(0)) > 0) {
    }
  }

  bool requested() const { return signal() != 0; }
  int signal() const { return requested_stop(); }
};

}  // namespace paceline::launch
