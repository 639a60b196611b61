// SPDX-License-Identifier: Apache-2.0
#include "paceline/rank/dispatcher_options.h"

#include <memory>
#include <string>
#include <utility>

namespace paceline::rank {
namespace {

// A rank without a heartbeat for --timeout has failed.  To detect that takes up to two heartbeats
// and a poll more.  Ranks that wait for the failed rank must give up later than that.
constexpr std::chrono::seconds kDetectionFirst{3};

}  // namespace

// `watch` returns a Hold, because the dispatcher has its own deadlines for steps and waits: the
// main thread then does not count as hung.
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
