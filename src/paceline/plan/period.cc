// SPDX-License-Identifier: Apache-2.0
#include "paceline/plan/period.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "paceline/plan/cost.h"
#include "paceline/plan/wire_bytes.h"

namespace paceline::plan {
namespace {

/// A text that describes the work of an op, without the buffers that it uses.
std::string work_of(const Op& op, const Setup& setup) {
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

/// Caches a value that is computed once for each variant.
template <class Value, class Compute>
class OfVariants {
 public:
  explicit OfVariants(Compute compute) : compute_(std::move(compute)) {}

  const Value& operator()(Variant variant) {
    const auto [found, fresh] = known_.try_emplace(variant);
    if (fresh) {
      compute_(variant, found->second);
    }
    return found->second;
  }

 private:
  Compute compute_;
  std::map<Variant, Value> known_;
};

/// Calls `take(rank's setup, rank's plan, rank)` for every rank.
template <class Take>
void for_each_rank(const Planner& planner, const PlanInput& input, Variant variant, Take take) {
  PlanInput of_rank = input;
  for (Rank rank = 0; rank < input.world; ++rank) {
    of_rank.rank = rank;
    const Setup setup = planner.setup(of_rank);
    take(setup, planner.plan(of_rank, setup, variant), rank);
  }
}

/// Computes the work of all ranks in one step of a variant, as a text.
auto work_by_variant(const Planner& planner, const PlanInput& input) {
  const auto compute = [&](Variant variant, std::string& work) {
    for_each_rank(planner, input, variant, [&](const Setup& setup, const CommPlan& plan, Rank) {
      for (const Op& op : plan.ops) {
        work += work_of(op, setup) + ";";
      }
      work += "|";
    });
  };
  return OfVariants<std::string, decltype(compute)>(compute);
}

using TrafficByPattern = std::map<std::string, Traffic>;

/// Computes the traffic of all ranks together in one step of a variant.
auto traffic_by_variant(const Planner& planner, const PlanInput& input) {
  const auto compute = [&](Variant variant, TrafficByPattern& all) {
    for_each_rank(planner, input, variant,
                  [&](const Setup& setup, const CommPlan& plan, Rank rank) {
                    for (const auto& [pattern, traffic] : cost(setup, plan, rank).by_pattern) {
                      all[pattern].bytes += traffic.bytes;
                      all[pattern].calls += traffic.calls;
                    }
                  });
  };
  return OfVariants<TrafficByPattern, decltype(compute)>(compute);
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
  // All steps are compared: a rule that averages every 100 steps looks static in the steps before.
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
  auto work = work_by_variant(planner, input);
  const auto repeats_after = [&](Step period) {
    for (Step step = 1; step <= variants; ++step) {
      if (work(planner.variant(input, step)) != work(planner.variant(input, step + period))) {
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

bool lacks_traffic(const Planner& planner, const PlanInput& input, Step first, Step steps) {
  auto traffic = traffic_by_variant(planner, input);
  std::vector<TrafficByPattern> sent;
  for (Step step = first; step < first + steps; ++step) {
    const TrafficByPattern& one = traffic(planner.variant(input, step));
    if (std::ranges::find(sent, one) == sent.end()) {
      sent.push_back(one);
    }
  }
  const Step period = period_of_variants(planner, input);
  for (Step step = 1; step <= period; ++step) {
    if (std::ranges::find(sent, traffic(planner.variant(input, step))) == sent.end()) {
      return true;
    }
  }
  return false;
}

}  // namespace paceline::plan
