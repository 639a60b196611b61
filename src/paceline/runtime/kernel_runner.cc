// SPDX-License-Identifier: Apache-2.0
#include "paceline/runtime/kernel_runner.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include <c10/core/impl/LocalDispatchKeySet.h>

#include "paceline/base/clock.h"
#include "paceline/plan/kernel_traits.h"
#include "paceline/runtime/kernels/call.h"

namespace paceline::runtime {

KernelRunner::KernelRunner(
    UpdateRule rule,
    Operands operands,
    Time time,
    std::uint64_t seed,
    double stretch,
    std::function<void(plan::Step, const std::string&)> asleep)
    : rule_(std::move(rule)),
      operands_(operands),
      time_(std::move(time)),
      seed_(seed),
      stretch_(stretch),
      asleep_(std::move(asleep)) {}

void KernelRunner::sleep_until(std::int64_t ns,
                               plan::Step step,
                               const plan::Kernel& kernel) const {
  constexpr std::int64_t kAtOnceNs =
      std::chrono::nanoseconds(std::chrono::milliseconds(500)).count();
  for (std::int64_t now = steady_ns(); now < ns; now = steady_ns()) {
    sleep_until_ns(std::min(ns, now + kAtOnceNs));
    if (asleep_) {
      asleep_(step, std::string(kernel.name));
    }
  }
}

void KernelRunner::run(plan::OpRef ref, const plan::Kernel& kernel) const {
  const std::int64_t began = steady_ns();
  if (const auto time = time_ ? time_(kernel) : std::nullopt) {
    sleep_until(began + time->count(), ref.step, kernel);
    return;
  }
  // A training thread that waits may be inside autocast.
  const c10::impl::ExcludeDispatchKeyGuard no_autocast(
      c10::autocast_dispatch_keyset);
  find_kernel(kernel.name).run(rule_, call_of(ref, kernel));
  const auto* traits = plan::find_kernel_traits(kernel.name);
  if (traits != nullptr && traits->codes) {
    const std::int64_t coded = steady_ns() - began;
    coding_ns_ += coded;
    if (stretch_ > 1) {
      sleep_until(began + std::llround(static_cast<double>(coded) * stretch_),
                  ref.step,
                  kernel);
    }
  }
}

Call KernelRunner::call_of(plan::OpRef ref, const plan::Kernel& kernel) const {
  Call call = operands_.resolve(kernel);
  call.random = {.seed = seed_, .step = ref.step, .op = ref.op};
  return call;
}

}  // namespace paceline::runtime
