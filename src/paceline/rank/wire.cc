// SPDX-License-Identifier: Apache-2.0
#include "paceline/rank/wire.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "paceline/base/text.h"
#include "paceline/plan/cost.h"
#include "paceline/plan/period.h"

namespace paceline::rank {
namespace {

bool has_ragged_buffers(const plan::Setup& setup) {
  return std::ranges::any_of(setup.buffers,
                             [](const plan::Buffer& buffer) { return buffer.typical.has_value(); });
}

// Returns the planned bytes per step.  Returns nothing if message lengths are known only at run
// time.  Also returns nothing if other code that issues ops, such as PyTorch's Reducer, begins or
// changes its plan in the window: it may then send more than is planned, because it first orders
// its buckets.
std::optional<std::int64_t> planned_per_step(const Window& window) {
  if (has_ragged_buffers(window.setup)) {
    return std::nullopt;
  }
  std::map<const plan::CommPlan*, std::int64_t> bytes_of;
  std::int64_t total = 0;
  for (int step = window.first; step < window.first + window.steps; ++step) {
    const plan::CommPlan& plan = window.plan_of(step);
    const bool is_new = step == 0 || &window.plan_of(step - 1) != &plan;
    if (is_new && plan::has_ops_of_other_owners(plan)) {
      return std::nullopt;
    }
    const auto [bytes, fresh] = bytes_of.emplace(&plan, 0);
    if (fresh) {
      bytes->second = plan::cost(window.setup, plan, window.rank).wire_bytes;
    }
    total += bytes->second;
  }
  return total / window.steps;
}

}  // namespace

bool communicates(const plan::Planner& planner, const plan::PlanInput& input, int steps) {
  std::set<plan::Variant> variants;
  for (int step = 0; step < steps; ++step) {
    variants.insert(planner.variant(input, step));
  }
  for (plan::Rank rank = 0; rank < input.world; ++rank) {
    plan::PlanInput of = input;
    of.rank = rank;
    const plan::Setup setup = planner.setup(of);
    for (const plan::Variant variant : variants) {
      if (plan::communicates(planner.plan(of, setup, variant))) {
        return true;
      }
    }
  }
  return false;
}

records::WireBytes wire_bytes_of(const Window& window, const engines::Ledger& booked) {
  records::WireBytes wire;
  for (const auto& [pattern, bytes] : booked.bytes) {
    wire.by_pattern[pattern] = bytes / window.steps;
  }
  wire.measured_per_step = booked.total_bytes() / window.steps;
  wire.calls_per_step = booked.total_calls() / window.steps;
  wire.planned_per_step = planned_per_step(window);
  return wire;
}

std::optional<records::Warning> partial_period_warning(const plan::Planner& planner,
                                                       const plan::PlanInput& input, int warmup,
                                                       int steps) {
  const plan::Step period = plan::period_of_work(planner, input);
  if (steps % period == 0) {
    return std::nullopt;
  }
  records::Warning warning{
      records::kNotWholePeriods,
      fmt::format("{} measured, and the strategy's steps repeat after {}", counted(steps, "step"),
                  period),
      "rates, times and bytes count some steps of a period more often than others",
      fmt::format("measure a multiple of {} steps (--steps {}), or leave out --steps and --warmup",
                  period, (steps + period - 1) / period * period)};
  if (plan::misses_traffic_of_period(planner, input, warmup, steps)) {
    warning.code = records::kLacksExchange;
    warning.why =
        "the case is INVALID: none of the measured steps exchanges all that the strategy exchanges "
        "once in a period";
  }
  return warning;
}

}  // namespace paceline::rank
