// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <csignal>

namespace paceline::launch {

/// SIGTERM and SIGUSR1 as a wish to stop at the next good moment.
///
/// Blocks both for this thread and all that it starts later, so it must be
/// made before any other thread; then a wish is a pending signal that
/// `requested()` sees: no handler, no interrupted system call, no global.
/// Wishes that are pending at destruction count as granted and vanish.
/// A rank that no longer looks is ended by its launcher's SIGKILL.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  /// Costs one system call.
  bool requested() const { return signal() != 0; }

  /// The signal that came, SIGTERM before SIGUSR1; 0: none.
  int signal() const;

 private:
  sigset_t before_;
};

}  // namespace paceline::launch
