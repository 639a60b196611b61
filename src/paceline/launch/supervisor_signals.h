// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

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

/// Whether a signal that came `after` a request to stop is a second request.
/// timeout(1) signals its child and then the child's group: that is one
/// request.
constexpr bool is_second_request(std::chrono::nanoseconds after) {
  return after >= std::chrono::milliseconds(300);
}

}  // namespace paceline::launch
