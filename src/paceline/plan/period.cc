// SPDX-License-Identifier: Apache-2.0
#include "paceline/plan/period.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "paceline/base/text.h"
#include "paceline/plan/cost.h"
#include "paceline/plan/wire_bytes.h"

namespace paceline::plan {
namespace {

/// A text that describes the work of an op, without the buffers that it uses.
std::string work_text_of(const Op& op, const Setup& setup) {
  if (const auto* exchange = std::get_if<Exchange>(&op.work)) {
    std::string text = "exchange";
    for (const Message& message : exchange->sends) {
      text += fmt::format(" {}>{}", message.slice.count, message.peer);
    }
    for (const Message& message : exchange->receives) {
      text += fmt::format(" {}<{}", message.slice.count, message.peer);
    }
    return text;
  }
  if (const auto* collective = std::get_if<Collective>(&op.work)) {
    return fmt::format("{} {} of {}", name_of(collective->pattern), payload_bytes(setup, op),
                       index_of(collective->on));
  }
  if (const auto* kernel = std::get_if<Kernel>(&op.work)) {
    Elements elements = 0;
    for (const Access& access : kernel->writes) {
      elements += access.slice.count;
    }
    return fmt::format("{} {}", kernel->name, elements);
  }
  return "model";
}

/// Returns a function that maps a step to a Value, which is computed once for each variant:
/// `add(setup, plan, rank, value)` is called for every rank and adds that rank's part to the value.
template <class Value, class Add>
auto cached_step_values(const Planner& planner, const PlanInput& input, const Add& add) {
  return [&, known = std::map<Variant, Value>()](Step step) mutable -> const Value& {
    const Variant variant = planner.variant(input, step);
    const auto [found, fresh] = known.try_emplace(variant);
    if (fresh) {
      PlanInput of_rank = input;
      for (of_rank.rank = 0; of_rank.rank < input.world; ++of_rank.rank) {
        const Setup setup = planner.setup(of_rank);
        add(setup, planner.plan(of_rank, setup, variant), of_rank.rank, found->second);
      }
    }
    return found->second;
  };
}

void add_work(const Setup& setup, const CommPlan& plan, Rank /*rank*/, std::string& work) {
  for (const Op& op : plan.ops) {
    work += work_text_of(op, setup) + ";";
  }
  work += "|";
}

using TrafficByPattern = std::map<std::string, Traffic>;

void add_traffic(const Setup& setup, const CommPlan& plan, Rank rank, TrafficByPattern& all) {
  for (const auto& [pattern, traffic] : cost(setup, plan, rank).by_pattern) {
    all[pattern].bytes += traffic.bytes;
    all[pattern].calls += traffic.calls;
  }
}

/// The period of the variants, at most Planner::period; 1 if they do not repeat.
Step period_of_variants(const Planner& planner, const PlanInput& input) {
  return period_of(planner, input, planner.period(input)).value_or(1);
}

}  // namespace

std::optional<Step> period_of(const Planner& planner, const PlanInput& input, Step longest) {
  PlanInput first = input;
  first.rank = 0;
  std::vector<Variant> variants;  // variants of the steps from step 1 on
  // The comparison includes all steps up to twice the limit: a rule that averages every 100 steps
  // looks static in the steps before.
  for (Step step = 1; step <= 2 * longest; ++step) {
    variants.push_back(planner.variant(first, step));
  }
  for (Step period = 1; period <= longest; ++period) {
    if (std::equal(variants.begin() + static_cast<std::ptrdiff_t>(period), variants.end(),
                   variants.begin())) {
      return period;
    }
  }
  return std::nullopt;
}

Step period_of_work(const Planner& planner, const PlanInput& input) {
  const Step variants = period_of_variants(planner, input);
  auto work = cached_step_values<std::string>(planner, input, add_work);
  const auto repeats_after = [&](Step period) {
    for (Step step = 1; step <= variants; ++step) {
      if (work(step) != work(step + period)) {
        return false;
      }
    }
    return true;
  };
  for (Step period = 1; period < variants; ++period) {
    if (variants % period == 0 && repeats_after(period)) {
      return period;
    }
  }
  return variants;
}

bool misses_traffic_of_period(const Planner& planner, const PlanInput& input, Step first,
                              Step steps) {
  auto traffic = cached_step_values<TrafficByPattern>(planner, input, add_traffic);
  std::vector<TrafficByPattern> sent;
  for (Step step = first; step < first + steps; ++step) {
    add_once(sent, traffic(step));
  }
  const Step period = period_of_variants(planner, input);
  for (Step step = 1; step <= period; ++step) {
    if (std::ranges::find(sent, traffic(step)) == sent.end()) {
      return true;
    }
  }
  return false;
}

}  // namespace paceline::plan
