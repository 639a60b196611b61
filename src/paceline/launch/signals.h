// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <csignal>
#include <initializer_list>

namespace paceline::launch {

/// The first of `signals` that is pending; 0: none.  Costs one system call.
int pending_of(std::initializer_list<int> signals);

/// Blocks some signals for this thread and all that it starts later, so that they stay pending: no
/// handler, no interrupted system call, no global.  Must be made before any other thread of the
/// process, and before children.
class BlockedSignals {
 public:
  BlockedSignals(std::initializer_list<int> signals);
  ~BlockedSignals();
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

  /// Waits for one of them, and takes it; 0 after `timeout`.
  int wait(std::chrono::milliseconds timeout) const;

 private:
  sigset_t blocked_, before_;
};

/// Thrown where a step or a wait notices that the session shall end.
struct StopRequested {
  int signal = 0;
};

/// The signal by which this process is asked to stop, SIGTERM before SIGUSR1; 0: none, also where
/// no StopSignals lives.  Costs one system call.
inline int requested_stop() { return pending_of({SIGTERM, SIGUSR1}); }

/// Throws StopRequested where there is one.
inline void throw_if_stop_requested() {
  if (const int signal = requested_stop(); signal != 0) {
    throw StopRequested{signal};
  }
}

/// SIGTERM and SIGUSR1 as requests to stop after the current step.  Requests that are pending at
/// destruction are discarded.  A rank that does not look at them is ended by its launcher's
/// SIGKILL.
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

/// Blocks the signals that a supervisor waits for: SIGCHLD, SIGINT, SIGTERM, SIGHUP and SIGUSR1.
class SupervisorSignals : public BlockedSignals {
 public:
  SupervisorSignals() : BlockedSignals({SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGUSR1}) {}

  /// Whether SIGINT, SIGTERM or SIGHUP is pending.
  bool ending() const { return pending_of({SIGINT, SIGTERM, SIGHUP}) != 0; }
};

/// Whether a signal that came `after` a request to stop is a second request. timeout(1) signals its
/// child and then the child's group: that is one request.
constexpr bool is_second_request(std::chrono::nanoseconds after) {
  return after >= std::chrono::milliseconds(300);
}

}  // namespace paceline::launch
