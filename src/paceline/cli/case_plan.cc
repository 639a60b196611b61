// SPDX-License-Identifier: Apache-2.0
#include "paceline/cli/case_plan.h"

#include <fmt/format.h>

#include "paceline/base/text.h"
#include "paceline/plan/cost.h"
#include "paceline/plan/describe.h"
#include "paceline/plan/strategy.h"
#include "paceline/train/shape_of.h"

namespace paceline::cli {

using record::Configuration;

const plan::ModelShape& CasePlans::shape_of(const Configuration& c) {
  const std::string name = fmt::format(
      "{} {} {} {} {}", c.model, c.image_size, c.classes, c.dtype, c.replay);
  const auto known = shapes_.find(name);
  if (known != shapes_.end()) {
    return known->second;
  }
  return shapes_[name] = train::shape_of(c);
}

std::string CasePlans::describe(const Configuration& c) {
  const plan::StrategySpec strategy =
      plan::parse_strategy(c.strategy, {.bucket_mb = c.bucket_mb});
  if (strategy.external()) {
    return "     performed by an external command: no plan\n";
  }
  const bool by_times = c.ranks > 1 && plan::needs_times(strategy);
  if (by_times && (c.replay.empty() || c.link.empty())) {
    return "     made by the times of layers and collectives, which are "
           "measured "
           "when the case begins: no plan yet\n";
  }
  plan::PlanInput input = train::plan_input_of(c, shape_of(c));
  if (by_times) {
    train::add_known_times(c, input);
  }
  const auto planner = plan::make_planner(strategy);
  const plan::Setup setup = planner->setup(input);
  const plan::CommPlan plan =
      planner->plan(input, setup, planner->variant(input, c.warmup));
  const plan::Cost cost = plan::cost(setup, plan, input.rank);
  std::string text = fmt::format(
      "     {} on the wire per rank and step, {}, {}; {} of "
      "buffers beside values and gradients\n",
      plan::bytes_text(cost.wire_bytes),
      counted(cost.calls, "call"),
      counted(plan::rounds(input.model, setup, plan), "round"),
      plan::bytes_text(cost.memory_bytes));
  const std::string ops = plan::describe(plan, input.model, setup);
  const auto [earlier, fresh] = shown_.emplace(ops, c.label);
  return text +
         (fresh ? ops
                : fmt::format("     the plan of {}, above\n", earlier->second));
}

}  // namespace paceline::cli
