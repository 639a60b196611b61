// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "paceline/launch/blocked_signals.h"

namespace paceline::launch {

/// Blocks the signals that a supervisor waits for: SIGCHLD, SIGINT, SIGTERM,
/// SIGHUP and SIGUSR1.
class SupervisorSignals : public BlockedSignals {
 public:
  SupervisorSignals()
      : BlockedSignals({SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGUSR1}) {}

  /// Whether SIGINT, SIGTERM or SIGHUP is pending.
  bool ending() const { return pending_of({SIGINT, SIGTERM, SIGHUP}) != 0; }
};

}  // namespace paceline::launch
