// SPDX-License-Identifier: Apache-2.0
#include "paceline/rank/dispatcher_options.h"

#include <memory>
#include <string>
#include <utility>

namespace paceline::rank {
namespace {

// The time that is added to --timeout for ranks that wait for another rank.  If that rank has sent
// no heartbeat for --timeout, the failure detector reports it within two heartbeats and a poll,
// before the waiting ranks give up.
constexpr std::chrono::seconds kDetectionMargin{3};

}  // namespace

// `watch` returns a Hold, because the dispatcher has its own deadlines for steps and waits: the
// main thread then does not count as hung.
execution::Dispatcher::Options dispatcher_options(
    const StepLimits& limits, std::function<void(const std::exception_ptr&)> stuck) {
  using launch::Heartbeat;
  execution::Dispatcher::Options dispatcher{.timeout = limits.timeout + kDetectionMargin,
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
