// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <csignal>

namespace paceline::launch {

/// Blocks the signals that a supervisor waits for, so that they stay pending
/// until it does.  Must be made before any other thread of the process, and
/// before the children.
class SupervisorSignals {
 public:
  SupervisorSignals();
  ~SupervisorSignals();
  SupervisorSignals(const SupervisorSignals&) = delete;
  SupervisorSignals& operator=(const SupervisorSignals&) = delete;

  /// SIGCHLD, SIGINT, SIGTERM, SIGHUP or SIGUSR1; 0 after `timeout`.
  int wait(std::chrono::milliseconds timeout) const;

  /// Whether SIGINT, SIGTERM or SIGHUP is pending.
  bool ending() const;

 private:
  sigset_t waited_, before_;
};

}  // namespace paceline::launch
