// SPDX-License-Identifier: Apache-2.0
#include "paceline/runtime/kernel_runner.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <utility>
#include <variant>

#include <c10/core/impl/LocalDispatchKeySet.h>

#include "paceline/base/clock.h"
#include "paceline/plan/kernel_traits.h"
#include "paceline/runtime/kernels/call.h"

namespace paceline::runtime {
namespace {

const plan::KernelTraits& traits_of(const plan::Kernel& kernel) {
  static constexpr plan::KernelTraits kNone;
  const plan::KernelTraits* traits = plan::find_kernel_traits(kernel.name);
  return traits == nullptr ? kNone : *traits;
}

}  // namespace

KernelRunner::KernelRunner(OptimizerSettings rule, Operands operands, Time time, std::uint64_t seed,
                           double stretch, std::function<void(plan::Step, const std::string&)> beat)
    : rule_(std::move(rule)),
      operands_(std::move(operands)),
      time_(std::move(time)),
      seed_(seed),
      stretch_(stretch),
      beat_(std::move(beat)) {}

void KernelRunner::sleep_until(std::int64_t ns, plan::Step step, const plan::Kernel& kernel) const {
  constexpr std::int64_t kAtOnceNs =
      std::chrono::nanoseconds(std::chrono::milliseconds(500)).count();
  for (std::int64_t now = steady_ns(); now < ns; now = steady_ns()) {
    sleep_until_ns(std::min(ns, now + kAtOnceNs));
    if (beat_) {
      beat_(step, std::string(kernel.name));
    }
  }
}

void KernelRunner::run(plan::OpRef ref, const plan::Kernel& kernel) const {
  const std::int64_t began = steady_ns();
  const plan::KernelTraits& traits = traits_of(kernel);
  if (initial_kernels_done_ && traits.writes_initial_values) {
    return;
  }
  if (const auto time = time_ ? time_(kernel) : std::nullopt) {
    sleep_until(began + time->count(), ref.step, kernel);
    return;
  }
  // The kernel may run on a training thread that waits inside autocast.
  const c10::impl::ExcludeDispatchKeyGuard no_autocast(c10::autocast_dispatch_keyset);
  find_kernel(kernel.name).run(rule_, call_of(ref, kernel));
  if (traits.codes) {
    const std::int64_t coded = steady_ns() - began;
    coding_ns_ += coded;
    if (stretch_ > 1) {
      sleep_until(began + std::llround(static_cast<double>(coded) * stretch_), ref.step, kernel);
    }
  }
}

void KernelRunner::start(const plan::CommPlan& first) {
  for (std::size_t i = 0; i < first.ops.size(); ++i) {
    const auto* kernel = std::get_if<plan::Kernel>(&first.ops[i].work);
    if (kernel != nullptr && traits_of(*kernel).writes_initial_values) {
      run({0, static_cast<plan::OpIndex>(i)}, *kernel);
    }
  }
  initial_kernels_done_ = true;
}

Call KernelRunner::call_of(plan::OpRef ref, const plan::Kernel& kernel) const {
  Call call = operands_.resolve(kernel);
  call.random = {.seed = seed_, .step = ref.step, .op = ref.op};
  if (beat_ && traits_of(kernel).writes_initial_values) {  // other kernels are short
    call.beat = [this, step = ref.step, name = std::string(kernel.name)] { beat_(step, name); };
  }
  return call;
}

}  // namespace paceline::runtime
