// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <exception>
#include <functional>

#include "paceline/execution/dispatcher.h"
#include "paceline/launch/heartbeat.h"

namespace paceline::rank {

/// The time limits of a rank's steps, and the heartbeat that reports the rank's position.
struct StepLimits {
  std::chrono::milliseconds timeout{60'000};  // the user's --timeout
  std::chrono::nanoseconds first_step{0};     // estimated time of the first step; 0: unknown
  launch::Heartbeat* heartbeat = nullptr;     // null: no heartbeat
};

/// Returns the deadlines and the heartbeat of a training job.  `stuck` is called as
/// Dispatcher::Options says.
execution::Dispatcher::Options dispatcher_options(
    const StepLimits& limits, std::function<void(const std::exception_ptr&)> stuck);

}  // namespace paceline::rank
