// SPDX-License-Identifier: Apache-2.0
#include "paceline/measure/wire.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>

#include "paceline/plan/cost.h"

namespace paceline::measure {
namespace {

// What is planned, a step.  Nothing where a performer begins in the window, or
// changes its plan: it may then send more than is planned, as PyTorch's Reducer
// does when it orders its buckets.
std::optional<std::int64_t> planned_per_step(const Window& window) {
  std::map<const plan::CommPlan*, std::int64_t> bytes_of;
  std::int64_t total = 0;
  for (int step = window.first; step < window.first + window.steps; ++step) {
    const plan::CommPlan& plan = window.plan_of(step);
    const bool is_new = step == 0 || &window.plan_of(step - 1) != &plan;
    if (is_new && plan::has_performer(plan)) {
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

bool communicates(const plan::Planner& planner,
                  const plan::PlanInput& input,
                  int steps) {
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

records::WireBytes wire_of(const Window& window,
                           const engines::Ledger& before,
                           const engines::Ledger& after) {
  records::WireBytes wire;
  for (const auto& [pattern, bytes] : after.bytes) {
    const auto earlier = before.bytes.find(pattern);
    const std::int64_t in_window =
        bytes - (earlier == before.bytes.end() ? 0 : earlier->second);
    wire.by_pattern[pattern] = in_window / window.steps;
  }
  wire.measured_per_step =
      (after.total_bytes() - before.total_bytes()) / window.steps;
  wire.calls_per_step =
      (after.total_calls() - before.total_calls()) / window.steps;
  wire.planned_per_step = planned_per_step(window);
  return wire;
}

}  // namespace paceline::measure
