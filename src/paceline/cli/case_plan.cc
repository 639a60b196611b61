// SPDX-License-Identifier: Apache-2.0
#include "paceline/cli/case_plan.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paceline/base/error.h"
#include "paceline/base/file.h"
#include "paceline/base/text.h"
#include "paceline/case/outside.h"
#include "paceline/case/same.h"
#include "paceline/cluster/link_spec.h"
#include "paceline/plan/cost.h"
#include "paceline/plan/describe.h"
#include "paceline/plan/period.h"
#include "paceline/predict/one_host.h"
#include "paceline/rank/embedding_case.h"
#include "paceline/rank/outside_command.h"
#include "paceline/rank/planner_input.h"
#include "paceline/rank/wire.h"
#include "paceline/strategies/cluster_times.h"
#include "paceline/strategies/strategy.h"

namespace paceline::cli {

using plan::Step;
using records::Configuration;

namespace {

std::string notes_of(const Configuration& c, const strategies::StrategySpec& strategy,
                     const plan::Planner& planner, const plan::PlanInput& input) {
  std::string text;
  const auto add = [&text](const std::optional<records::Warning>& warning) {
    if (warning) {
      text += fmt::format("     note: {}: {}; {}\n", warning->seen, warning->why, warning->advice);
    }
  };
  add(rank::partial_period(planner, input, c.warmup, c.steps));
  add(predict::idle_codec_warning(strategy, c.has_tables() ? c.trainers : c.ranks));
  if (!c.has_tables()) {
    add(predict::one_host_warning(strategy, input));
  }
  return text;
}

/// Runs of steps that are listed of one plan.
constexpr std::size_t kMostRuns = 4;

/// The steps of one period that run a variant, in ascending order.
struct Turn {
  plan::Variant variant{};
  std::vector<Step> steps;
};

/// From step 1 on: step 0 may differ and never come again.
std::vector<Turn> turns_of(const plan::Planner& planner, const plan::PlanInput& input,
                           Step period) {
  std::map<plan::Variant, std::set<Step>> steps;
  for (Step step = 1; step <= period; ++step) {
    steps[planner.variant(input, step)].insert(step % period);
  }
  std::vector<Turn> turns;
  for (const auto& [variant, of_it] : steps) {
    turns.push_back({variant, {of_it.begin(), of_it.end()}});
  }
  std::ranges::sort(turns, {}, [](const Turn& turn) { return turn.steps[0]; });
  return turns;
}

/// "step 3 of 4", "steps 0-6 of 8", "steps 0, 2, 4, 6, ... of 64".
std::string words_for(const std::vector<Step>& steps, Step period) {
  std::vector<std::string> runs;
  for (std::size_t i = 0; i < steps.size();) {
    std::size_t end = i + 1;
    while (end < steps.size() && steps[end] == steps[end - 1] + 1) {
      ++end;
    }
    if (runs.size() == kMostRuns) {
      runs.emplace_back("...");
      break;
    }
    runs.push_back(end == i + 1 ? fmt::format("{}", steps[i])
                                : fmt::format("{}-{}", steps[i], steps[end - 1]));
    i = end;
  }
  return fmt::format("{} {} of {}", steps.size() == 1 ? "step" : "steps", fmt::join(runs, ", "),
                     period);
}

/// The plan of the variant `shown`, one line an operation.  Where the planner's steps differ, a
/// line before it says which steps of a period have this plan, and after it come the other steps by
/// what they send.
std::string period_text(const plan::Planner& planner, const plan::PlanInput& input,
                        const plan::Setup& setup, plan::Variant shown) {
  std::string ops = plan::describe(planner.plan(input, setup, shown), input.model, setup);
  const Step period = plan::period_of(planner, input, planner.period(input)).value_or(1);
  if (period == 1) {
    return ops;
  }
  std::string text;
  std::map<std::string, std::vector<Step>> others;  // by what they send
  for (const Turn& turn : turns_of(planner, input, period)) {
    if (turn.variant == shown) {
      text = fmt::format("     steps repeat after {}; counted from 0, {}:\n{}", period,
                         words_for(turn.steps, period), ops);
    } else {
      const plan::Cost cost =
          plan::cost(setup, planner.plan(input, setup, turn.variant), input.rank);
      auto& steps = others[fmt::format("{} on the wire, {}", plan::bytes_text(cost.wire_bytes),
                                       counted(cost.calls, "call"))];
      steps.insert(steps.end(), turn.steps.begin(), turn.steps.end());
    }
  }
  for (auto& [sent, steps] : others) {
    std::ranges::sort(steps);
    text += fmt::format("     {}: {}\n", words_for(steps, period), sent);
  }
  return text;
}

}  // namespace

const plan::ModelShape& CasePlans::shape_of(const Configuration& c) {
  const std::string name = cases::key_in(c, {cases::Part::kNetwork, &Configuration::replay});
  const auto known = shapes_.find(name);
  if (known != shapes_.end()) {
    return known->second;
  }
  return shapes_[name] = rank::shape_of(c);
}

CasePlans::CasePlans(const std::optional<cluster::Cluster>& cluster, const std::string& file)
    : file_(file), cluster_(file.empty() ? std::nullopt : cluster) {}

std::optional<plan::AlphaBeta> CasePlans::fits_for(const Configuration& c,
                                                   const strategies::StrategySpec& strategy) const {
  if (!cluster_) {
    return std::nullopt;
  }
  const auto hosts = cluster::ranks_per_host(*cluster_, c.ranks);
  strategies::ClusterTimes times = strategies::times_for(
      strategy, *cluster_,
      {.engine = c.engine,
       .device = c.device,
       .world = c.ranks,
       .scope = hosts.size() == 1 ? cluster::LinkScope::kDevices : cluster::LinkScope::kHosts,
       .ranks_per_host = hosts},
      file_);
  return times.missing.empty() ? std::optional(std::move(times.model)) : std::nullopt;
}

std::string CasePlans::describe(const Configuration& c) {
  const strategies::StrategySpec strategy = strategies::strategy_of(c);
  if (!c.not_run.empty()) {
    return fmt::format("     not run: {}\n", c.not_run);
  }
  if (strategy.external() || cases::is_outside(c)) {
    return fmt::format("     performed by {}: no plan\n     {}\n", cases::performer_of(c),
                       rank::shell_text(rank::outside_command(c, {})));
  }
  const bool by_times = c.ranks > 1 && strategies::needs_times(strategy);
  std::optional<plan::AlphaBeta> fits;
  if (by_times && c.link.empty()) {
    fits = fits_for(c, strategy);
  }
  if (by_times && (c.replay.empty() || (c.link.empty() && !fits))) {
    return "     made by the times of layers and collectives, which are measured when the case "
           "begins: no plan yet\n";
  }
  plan::PlanInput input = rank::plan_input_of(c, shape_of(c));
  if (by_times) {
    input.alpha_beta = std::move(fits);
    rank::add_known_times(c, input);
    input.alpha_beta->concurrent_collectives = cluster::concurrent_collectives_of(c.engine);
  }
  const auto planner = rank::with_statistics_of(c, rank::planner_of(c, strategy));
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
      plan::bytes_text(cost.wire_bytes), varies ? "in the step that sends most" : "and step",
      counted(cost.calls, "call"), counted(plan::rounds(input.model, setup, plan), "round"),
      plan::bytes_text(cost.memory_bytes));
  text += notes_of(c, strategy, *planner, input);
  const std::string ops = period_text(*planner, input, setup, shown);
  const auto [earlier, fresh] = shown_.emplace(ops, c.label);
  return text + (fresh ? ops : fmt::format("     the plan of {}, above\n", earlier->second));
}

}  // namespace paceline::cli
