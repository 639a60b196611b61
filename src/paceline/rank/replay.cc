// SPDX-License-Identifier: Apache-2.0
#include "paceline/rank/replay.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "paceline/base/clock.h"
#include "paceline/plan/access.h"
#include "paceline/plan/kernel_traits.h"

namespace paceline::rank {
namespace {

bool is_update(const plan::Kernel& kernel) {
  const plan::KernelTraits* traits = plan::find_kernel_traits(kernel.name);
  return traits != nullptr && traits->optimizer;
}

}  // namespace

ReplayClock real_replay_clock() {
  return {.now_ns = [] { return steady_ns(); },
          .sleep_until_ns = [](std::int64_t until) { sleep_until_ns(until); }};
}

Replay::Replay(cluster::ProfiledModel profiled, double stretch, ReplayClock clock)
    : profiled_(std::move(profiled)), stretch_(stretch), clock_(std::move(clock)) {
  plan::check_profile(profiled_.model, profiled_.profile);
  const plan::Elements elements = profiled_.model.elements();
  if (profiled_.update && elements > 0) {
    update_ns_per_element_ =
        static_cast<double>(*profiled_.update) * 1e-3 * stretch_ / static_cast<double>(elements);
  }
}

void Replay::begin(const ReplayCallbacks& events) {
  if (!due_ns_) {
    due_ns_ = static_cast<double>(clock_.now_ns());
    gate_wait_ns_ = events.gate_wait_ns();
  }
}

void Replay::compute(plan::Picoseconds time, const ReplayCallbacks& events) {
  const std::int64_t stood = events.gate_wait_ns();
  *due_ns_ +=
      static_cast<double>(stood - gate_wait_ns_) + static_cast<double>(time) * 1e-3 * stretch_;
  gate_wait_ns_ = stood;
  const auto due = static_cast<std::int64_t>(*due_ns_);
  if (due > clock_.now_ns()) {
    clock_.sleep_until_ns(due);
  }
}

void Replay::forward(const ReplayCallbacks& events) {
  begin(events);
  for (std::size_t m = 0; m < profiled_.model.modules.size(); ++m) {
    const auto module = static_cast<plan::ModuleId>(m);
    events.gates.enter(module);
    compute(profiled_.profile.forward[m], events);
    events.gates.leave(module);
  }
}

void Replay::backward(const ReplayCallbacks& events) {
  begin(events);
  const plan::ModelShape& model = profiled_.model;
  std::vector<bool> entered(model.modules.size(), false);
  for (const plan::ParameterId p : model.ready_order) {
    const plan::ModuleId module = model.parameters[plan::index_of(p)].module;
    if (!entered[plan::index_of(module)]) {
      entered[plan::index_of(module)] = true;
      if (events.gates.gates_backward(module)) {
        events.gates.enter_backward(module);
      }
    }
    compute(profiled_.profile.backward[plan::index_of(p)], events);
    events.ready(p);
  }
}

std::optional<std::chrono::nanoseconds> Replay::kernel_time(const plan::Kernel& kernel) const {
  if (!is_update(kernel)) {
    return std::nullopt;
  }
  return std::chrono::nanoseconds(static_cast<std::int64_t>(
      update_ns_per_element_ * static_cast<double>(kernel.writes.front().slice.count)));
}

bool codes(const plan::Planner& planner, const plan::PlanInput& input) {
  const plan::Setup setup = planner.setup(input);
  const auto is_codec = [](const plan::Op& op) {
    const auto* kernel = std::get_if<plan::Kernel>(&op.work);
    const auto* traits = kernel == nullptr ? nullptr : plan::find_kernel_traits(kernel->name);
    return traits != nullptr && traits->codes;
  };
  return std::ranges::any_of(plan::variants_of(planner, input), [&](plan::Variant variant) {
    return std::ranges::any_of(planner.plan(input, setup, variant).ops, is_codec);
  });
}

std::int64_t replay_written_bytes(const plan::Planner& planner, const plan::PlanInput& input) {
  const plan::Setup setup = planner.setup(input);
  const bool gradients = codes(planner, input);
  const auto is_written = [&](const plan::Op& op, const plan::AccessedRange& touch) {
    const auto* kernel = std::get_if<plan::Kernel>(&op.work);
    return touch.write && !std::holds_alternative<plan::Forward>(op.work) &&
           (gradients || !std::holds_alternative<plan::Backward>(op.work)) &&
           (kernel == nullptr || !is_update(*kernel));
  };
  std::int64_t bytes = 0;
  for (const auto& ranges : plan::touched_ranges(planner, input, setup, is_written)) {
    for (const plan::Slice& range : ranges) {
      bytes += range.count * plan::size_of(setup.buffers[plan::index_of(range.buffer)].dtype);
    }
  }
  return bytes;
}

}  // namespace paceline::rank
