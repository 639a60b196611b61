// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>

#include "paceline/engines/engine.h"

namespace paceline::engines {

/// Waits, outside of steps, for an operation that involves other ranks. These ranks may compute
/// before they take part, so the limit of the wait is ten times `timeout`. If this thread itself
/// hangs, `idle` is no longer called, which others can notice.
struct PeerWait {
  /// Called several times a second while the operation lasts; an exception that it throws ends the
  /// wait. May be empty.
  std::function<void()> idle{};
  std::chrono::milliseconds timeout{60'000};
  /// The device of the operation's tensors; threads that wait select it.
  at::Device device{at::kCPU};

  /// Ten times `timeout`; also the limit for connecting with the other ranks.
  std::chrono::milliseconds limit() const;

  /// Throws the operation's exception, or WorldError after limit().
  void wait_for(const Channel::Work& work) const;
};

}  // namespace paceline::engines
