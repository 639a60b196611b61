// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <exception>
#include <functional>

#include "paceline/execution/dispatcher.h"
#include "paceline/launch/heartbeat.h"

namespace paceline::measure {

struct DispatcherTimes {
  std::chrono::milliseconds timeout{60'000};  // --timeout
  std::chrono::nanoseconds first_step{0};     // estimated; 0: unknown
};

/// Deadlines and heartbeat of a training; `stuck` as Dispatcher::Options'.
/// Without `heartbeat` nobody is told where the rank is.
execution::Dispatcher::Options dispatcher_options(
    const DispatcherTimes& times,
    launch::Heartbeat* heartbeat,
    std::function<void(const std::exception_ptr&)> stuck);

}  // namespace paceline::measure
