// SPDX-License-Identifier: Apache-2.0
#include "paceline/measure/wire.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "paceline/plan/cost.h"
#include "paceline/plan/wire_bytes.h"

namespace paceline::measure {
namespace {

bool has_ragged(const plan::Setup& setup) {
  return std::ranges::any_of(setup.buffers, [](const plan::Buffer& buffer) {
    return buffer.typical.has_value();
  });
}

// What is planned, a step.  Nothing where lengths are known at run time alone,
// and where a performer begins in the window, or changes its plan: it may then
// send more than is planned, as PyTorch's Reducer does when it orders its
// buckets.
std::optional<std::int64_t> planned_per_step(const Window& window) {
  if (has_ragged(window.setup)) {
    return std::nullopt;
  }
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

using Counts = std::map<std::string, std::int64_t>;  // by pattern

// What was added a step; messages in all steps up to the window's end.
std::int64_t per_step(const Window& window,
                      const BookedBefore& before,
                      Counts engines::Ledger::*counts,
                      const Counts& after) {
  std::int64_t messages = 0, others = 0;
  for (const auto& [pattern, count] : after) {
    const bool is_message = pattern == plan::kMessages;
    const Counts& from = (is_message ? before.messages : before.others).*counts;
    const auto earlier = from.find(pattern);
    (is_message ? messages : others) +=
        count - (earlier == from.end() ? 0 : earlier->second);
  }
  return window.first == 0
             ? (messages + others) / window.steps
             : messages / (window.first + window.steps) + others / window.steps;
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
                           const BookedBefore& before,
                           const engines::Ledger& after) {
  records::WireBytes wire;
  for (const auto& item : after.bytes) {
    wire.by_pattern[item.first] =
        per_step(window, before, &engines::Ledger::bytes, {item});
  }
  wire.measured_per_step =
      per_step(window, before, &engines::Ledger::bytes, after.bytes);
  wire.calls_per_step =
      per_step(window, before, &engines::Ledger::calls, after.calls);
  wire.planned_per_step = planned_per_step(window);
  return wire;
}

}  // namespace paceline::measure
