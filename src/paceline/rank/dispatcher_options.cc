// SPDX-License-Identifier: Apache-2.0
#include "paceline/rank/dispatcher_options.h"

#include <memory>
#include <string>
#include <utility>

namespace paceline::rank {
namespace {

// A rank without a heartbeat for --timeout has failed.  Detecting that takes up to two heartbeats
// and a poll more, and the ranks that wait for the failed rank must give up only after it.
constexpr std::chrono::seconds kDetectionFirst{3};

}  // namespace

// The heartbeat is told to hold (`watch`) during steps and waits, for which the dispatcher has
// deadlines.
execution::Dispatcher::Options dispatcher_options(
    const StepLimits& limits, std::function<void(const std::exception_ptr&)> stuck) {
  using launch::Heartbeat;
  execution::Dispatcher::Options dispatcher{.timeout = limits.timeout + kDetectionFirst,
                                            .first_step = limits.first_step,
                                            .training_timeout = limits.timeout,
                                            .stuck = std::move(stuck)};
  if (Heartbeat* const heartbeat = limits.heartbeat; heartbeat != nullptr) {
    dispatcher.heartbeat = [heartbeat](plan::Step step, const std::string& op) {
      heartbeat->beat(step, op);
    };
    dispatcher.watch = [heartbeat] {
      return std::make_shared<Heartbeat::Hold>(*heartbeat, Heartbeat::Hold::For::kWatched);
    };
  }
  return dispatcher;
}

}  // namespace paceline::rank
