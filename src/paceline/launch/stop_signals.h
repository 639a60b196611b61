// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <csignal>

namespace paceline::launch {

/// Thrown where a step or a wait notices that the session shall end.
struct StopRequested {
  int signal = 0;
};

/// The signal by which this process is asked to stop, SIGTERM before SIGUSR1;
/// 0: none, also where no StopSignals lives.  Costs one system call.
int requested_stop();

/// Throws StopRequested where there is one.
void throw_if_stop_requested();

/// SIGTERM and SIGUSR1 as requests to stop after the current step.
///
/// Blocks both for this thread and all that it starts later, so it must be made
/// before any other thread.  A request is then a pending signal that
/// `requested()` sees: no handler, no interrupted system call, no global.
/// Requests that are pending at destruction are discarded.  A rank that does
/// not look at them is ended by its launcher's SIGKILL.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  bool requested() const { return signal() != 0; }
  int signal() const { return requested_stop(); }

 private:
  sigset_t before_;
};

}  // namespace paceline::launch
