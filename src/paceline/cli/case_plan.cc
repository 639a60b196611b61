// SPDX-License-Identifier: Apache-2.0
#include "paceline/cli/case_plan.h"

#include <utility>

#include <fmt/format.h>

#include "paceline/base/text.h"
#include "paceline/plan/cluster_times.h"
#include "paceline/plan/cost.h"
#include "paceline/plan/describe.h"
#include "paceline/plan/link_spec.h"
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

CasePlans::CasePlans(const std::optional<plan::Cluster>& cluster,
                     const std::string& file)
    : file_(file), cluster_(file.empty() ? std::nullopt : cluster) {}

std::optional<plan::AlphaBeta> CasePlans::fits_for(
    const Configuration& c, const plan::StrategySpec& strategy) const {
  if (!cluster_) {
    return std::nullopt;
  }
  const bool one_host = plan::ranks_per_host(*cluster_, c.ranks).size() == 1;
  plan::ClusterTimes times = plan::times_for(
      strategy,
      *cluster_,
      {.engine = c.engine,
       .device = c.device,
       .world = c.ranks,
       .scope = one_host ? plan::LinkScope::kDevices : plan::LinkScope::kHosts},
      file_);
  return times.missing.empty() ? std::optional(std::move(times.model))
                               : std::nullopt;
}

std::string CasePlans::describe(const Configuration& c) {
  const plan::StrategySpec strategy =
      plan::parse_strategy(c.strategy, {.bucket_mb = c.bucket_mb});
  if (strategy.external()) {
    return "     performed by an external command: no plan\n";
  }
  const bool by_times = c.ranks > 1 && plan::needs_times(strategy);
  std::optional<plan::AlphaBeta> fits;
  if (by_times && c.link.empty()) {
    fits = fits_for(c, strategy);
  }
  if (by_times && (c.replay.empty() || (c.link.empty() && !fits))) {
    return "     made by the times of layers and collectives, which are "
           "measured "
           "when the case begins: no plan yet\n";
  }
  plan::PlanInput input = train::plan_input_of(c, shape_of(c));
  if (by_times) {
    input.alpha_beta = std::move(fits);
    train::add_known_times(c, input);
    input.alpha_beta->side_by_side = plan::side_by_side_of(c.engine);
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
