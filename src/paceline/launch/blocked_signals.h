// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <csignal>
#include <initializer_list>

namespace paceline::launch {

/// The first of `signals` that is pending; 0: none.  Costs one system call.
int pending_of(std::initializer_list<int> signals);

/// Blocks some signals for this thread and all that it starts later, so that
/// they stay pending: no handler, no interrupted system call, no global.  Must
/// be made before any other thread of the process, and before children.
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

}  // namespace paceline::launch
