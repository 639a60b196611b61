// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <csignal>
#include <initializer_list>

namespace paceline::launch {

/// Returns the first of `signals` that is pending, or 0. Costs one system call.
int first_pending_signal(std::initializer_list<int> signals);

/// Blocks some signals for this thread and all threads that it starts later, so that these signals
/// stay pending. This needs no handler, no global variable, and interrupts no system call. Must be
/// constructed before any other thread of the process, and before children.
class BlockedSignals {
 public:
  BlockedSignals(std::initializer_list<int> signals);
  ~BlockedSignals();
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

  /// Waits for one of these signals, consumes and returns it; returns 0 after `timeout`.
  int wait(std::chrono::milliseconds timeout) const;

 private:
  sigset_t blocked_, before_;
};

/// Thrown by a step or a wait that notices that the process has been asked to stop.
struct StopRequested {
  int signal = 0;
};

/// Returns the signal by which this process is asked to stop, SIGTERM before SIGUSR1. Returns 0 if
/// there is none, or if no StopSignals exists. Costs one system call.
inline int requested_stop() { return first_pending_signal({SIGTERM, SIGUSR1}); }

/// Throws StopRequested if this process is asked to stop.
inline void throw_if_stop_requested() {
  if (const int signal = requested_stop(); signal != 0) {
    throw StopRequested{signal};
  }
}

/// Treats SIGTERM and SIGUSR1 as requests to stop after the current step. Requests that are pending
/// at destruction are discarded. A rank that ignores the requests is ended by its launcher's
/// SIGKILL.
class StopSignals : private BlockedSignals {
 public:
  StopSignals() : BlockedSignals({SIGTERM, SIGUSR1}) {}
  // Consumes the pending requests. Otherwise the signal of a request that was already obeyed would
  // kill the process when the signals are unblocked.
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
  bool is_end_requested() const { return first_pending_signal({SIGINT, SIGTERM, SIGHUP}) != 0; }
};

/// Whether a signal that came this long after a request to stop is a second request. Two signals in
/// quick succession are one request, because timeout(1) signals its child and then the child's
/// group.
constexpr bool is_second_request(std::chrono::nanoseconds after) {
  return after >= std::chrono::milliseconds(300);
}

}  // namespace paceline::launch
