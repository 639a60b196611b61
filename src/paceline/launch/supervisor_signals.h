// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <csignal>

namespace paceline::launch {

/// Keeps the signals that a supervisor waits for pending until it asks for
/// them.  Must be made before any other thread of the process, and before the
/// children.
class SupervisorSignals {
 public:
  SupervisorSignals();
  ~SupervisorSignals();
  SupervisorSignals(const SupervisorSignals&) = delete;
  SupervisorSignals& operator=(const SupervisorSignals&) = delete;

  /// SIGCHLD, SIGINT, SIGTERM, SIGHUP or SIGUSR1; 0 after `patience`.
  int wait(std::chrono::milliseconds patience) const;

  /// Whether a signal that ends a run has come and is still to be waited for.
  bool ending() const;

 private:
  sigset_t waited_, before_;
};

}  // namespace paceline::launch
