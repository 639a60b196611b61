// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <exception>
#include <functional>

#include "paceline/execution/dispatcher.h"
#include "paceline/launch/heartbeat.h"

namespace paceline::rank {

/// How long the steps of a rank may take, and who is told where the rank is.
struct StepLimits {
  std::chrono::milliseconds timeout{60'000};  // --timeout
  std::chrono::nanoseconds first_step{0};     // estimated; 0: unknown
  launch::Heartbeat* heartbeat = nullptr;     // null: nobody is told
};

/// Deadlines and heartbeat of a training; `stuck` as Dispatcher::Options'.
execution::Dispatcher::Options dispatcher_options(
    const StepLimits& limits, std::function<void(const std::exception_ptr&)> stuck);

}  // namespace paceline::rank
