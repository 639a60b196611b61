// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>

#include "paceline/engines/engine.h"

namespace paceline::engines {

/// How a thread waits for an operation in which other ranks take part, outside of steps.  The
/// others may compute before they take part, so it waits for ten times `timeout`; where this thread
/// itself hangs, `idle` is no longer called.
struct PeerWait {
  /// Called several times a second while the operation lasts; what it throws ends the wait.  May be
  /// empty.
  std::function<void()> idle{};
  std::chrono::milliseconds timeout{60'000};
  /// The device of the operation's tensors, which threads that wait use.
  at::Device device{at::kCPU};

  /// Ten times `timeout`: also for connecting with the others.
  std::chrono::milliseconds limit() const;

  /// Throws what the operation throws, and WorldError after limit().
  void wait_for(const Channel::Work& work) const;
};

}  // namespace paceline::engines
