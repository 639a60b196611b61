// SPDX-License-Identifier: Apache-2.0
#include "paceline/runtime/kernel_runner.h"

#include <utility>

#include "paceline/base/clock.h"

namespace paceline::runtime {

KernelRunner::KernelRunner(UpdateRule rule,
                           Operands operands,
                           const Streams& streams,
                           Time time)
    : rule_(std::move(rule)),
      operands_(operands),
      streams_(streams),
      time_(std::move(time)) {}

void KernelRunner::run(const plan::Kernel& kernel) const {
  const std::int64_t began = steady_ns();
  if (const auto time = time_ ? time_(kernel) : std::nullopt) {
    sleep_until_ns(began + time->count());
    return;
  }
  streams_.plan_follows_compute();
  streams_.on_plan(
      [&] { find_kernel(kernel.name).run(rule_, operands_.resolve(kernel)); });
}

}  // namespace paceline::runtime
