// SPDX-License-Identifier: Apache-2.0
#include "paceline/cli/case_plan.h"

#include <utility>

#include <fmt/format.h>

#include "paceline/base/text.h"
#include "paceline/cli/plan_period.h"
#include "paceline/cluster/link_spec.h"
#include "paceline/experiment/outside.h"
#include "paceline/measure/embedding_case.h"
#include "paceline/measure/outside_command.h"
#include "paceline/measure/planner_input.h"
#include "paceline/plan/cost.h"
#include "paceline/plan/describe.h"
#include "paceline/predict/one_host.h"
#include "paceline/strategies/cluster_times.h"
#include "paceline/strategies/strategy.h"

namespace paceline::cli {

using records::Configuration;

namespace {

std::string note_of(const Configuration& c,
                    const strategies::StrategySpec& strategy,
                    const plan::PlanInput& input) {
  const auto one_host = c.has_tables()
                            ? std::nullopt
                            : predict::one_host_warning(strategy, input);
  return one_host ? fmt::format("     note: {}: {}; {}\n",
                                one_host->seen,
                                one_host->why,
                                one_host->advice)
                  : "";
}

}  // namespace

const plan::ModelShape& CasePlans::shape_of(const Configuration& c) {
  const std::string name = fmt::format("{} {} {} {} {} {}",
                                       c.model,
                                       c.image_size,
                                       c.classes,
                                       c.sequence_length,
                                       c.dtype,
                                       c.replay);
  const auto known = shapes_.find(name);
  if (known != shapes_.end()) {
    return known->second;
  }
  return shapes_[name] = measure::shape_of(c);
}

CasePlans::CasePlans(const std::optional<cluster::Cluster>& cluster,
                     const std::string& file)
    : file_(file), cluster_(file.empty() ? std::nullopt : cluster) {}

std::optional<plan::AlphaBeta> CasePlans::fits_for(
    const Configuration& c, const strategies::StrategySpec& strategy) const {
  if (!cluster_) {
    return std::nullopt;
  }
  const auto hosts = cluster::ranks_per_host(*cluster_, c.ranks);
  strategies::ClusterTimes times = strategies::times_for(
      strategy,
      *cluster_,
      {.engine = c.engine,
       .device = c.device,
       .world = c.ranks,
       .scope = hosts.size() == 1 ? cluster::LinkScope::kDevices
                                  : cluster::LinkScope::kHosts,
       .ranks_per_host = hosts},
      file_);
  return times.missing.empty() ? std::optional(std::move(times.model))
                               : std::nullopt;
}

std::string CasePlans::describe(const Configuration& c) {
  const strategies::StrategySpec strategy =
      strategies::parse_strategy(c.strategy, {.bucket_mb = c.bucket_mb});
  if (!c.not_run.empty()) {
    return fmt::format("     not run: {}\n", c.not_run);
  }
  if (strategy.external()) {
    return fmt::format("     performed by {}: no plan\n     {}\n",
                       experiment::performer_of(c),
                       measure::shell_text(measure::outside_command(c, {})));
  }
  const bool by_times = c.ranks > 1 && strategies::needs_times(strategy);
  std::optional<plan::AlphaBeta> fits;
  if (by_times && c.link.empty()) {
    fits = fits_for(c, strategy);
  }
  if (by_times && (c.replay.empty() || (c.link.empty() && !fits))) {
    return "     made by the times of layers and collectives, which are "
           "measured "
           "when the case begins: no plan yet\n";
  }
  plan::PlanInput input = measure::plan_input_of(c, shape_of(c));
  if (by_times) {
    input.alpha_beta = std::move(fits);
    measure::add_known_times(c, input);
    input.alpha_beta->concurrent_collectives =
        cluster::concurrent_collectives_of(c.engine);
  }
  const auto planner =
      measure::with_statistics_of(c, measure::planner_of(c, strategy));
  const plan::Setup setup = planner->setup(input);
  // The step after the warm-up, or one that sends more.
  plan::Variant shown = planner->variant(input, c.warmup);
  plan::CommPlan plan = planner->plan(input, setup, shown);
  plan::Cost cost = plan::cost(setup, plan, input.rank);
  bool varies = false;
  for (const plan::Variant variant : plan::variants_of(*planner, input)) {
    plan::CommPlan other = planner->plan(input, setup, variant);
    const plan::Cost its = plan::cost(setup, other, input.rank);
    varies = varies || its.wire_bytes != cost.wire_bytes;
    if (its.wire_bytes > cost.wire_bytes) {
      shown = variant;
      plan = std::move(other);
      cost = its;
    }
  }
  std::string text = fmt::format(
      "     {} on the wire per rank {}, {}, {}; {} of "
      "buffers beside values and gradients\n",
      plan::bytes_text(cost.wire_bytes),
      varies ? "in the step that sends most" : "and step",
      counted(cost.calls, "call"),
      counted(plan::rounds(input.model, setup, plan), "round"),
      plan::bytes_text(cost.memory_bytes));
  text += note_of(c, strategy, input);
  const std::string ops = period_text(*planner, input, setup, shown);
  const auto [earlier, fresh] = shown_.emplace(ops, c.label);
  return text +
         (fresh ? ops
                : fmt::format("     the plan of {}, above\n", earlier->second));
}

}  // namespace paceline::cli
