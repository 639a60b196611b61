// SPDX-License-Identifier: Apache-2.0
#include "paceline/cli/dry_run.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "paceline/base/text.h"
#include "paceline/case/case.h"
#include "paceline/case/command.h"
#include "paceline/case/experiment.h"
#include "paceline/case/outside.h"
#include "paceline/case/same.h"
#include "paceline/cluster/cluster.h"
#include "paceline/cluster/link_spec.h"
#include "paceline/plan/cost.h"
#include "paceline/plan/describe.h"
#include "paceline/plan/period.h"
#include "paceline/plan/plan_input.h"
#include "paceline/predict/one_host.h"
#include "paceline/rank/embedding_case.h"
#include "paceline/rank/outside_command.h"
#include "paceline/rank/planner_input.h"
#include "paceline/rank/wire.h"
#include "paceline/strategies/cluster_times.h"
#include "paceline/strategies/strategy.h"

namespace paceline::cli {
namespace {

using plan::Step;

std::string notes_of(const cases::Case& c, const strategies::StrategySpec& strategy,
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

/// The operations of a plan, one per line, below the period after which the planner's steps repeat.
std::string plan_text(const plan::Planner& planner, const plan::PlanInput& input,
                      const plan::Setup& setup, const plan::CommPlan& shown) {
  const std::string ops = plan::describe(shown, input.model, setup);
  const Step period = plan::period_of(planner, input, planner.period(input)).value_or(1);
  return period == 1
             ? ops
             : fmt::format("     steps repeat after {}; a step that sends most:\n{}", period, ops);
}

/// Describes the plans of cases for --dry-run. It traces each network once, with two samples, and
/// starts nothing.
class CasePlans {
 public:
  /// Planners use the alpha-beta fits of `cluster`, which `file` describes; without `file` they
  /// have none.
  CasePlans(const std::optional<cluster::Cluster>& cluster, const std::string& file);

  /// Describes a case: its wire bytes per rank and step, calls, rounds and extra memory, and the
  /// plan of rank 0 after the warm-up, one operation per line.
  std::string describe(const cases::Case& configuration);

 private:
  const plan::ModelShape& shape_of(const cases::Case& configuration);

  std::optional<plan::AlphaBeta> fits_for(const cases::Case& configuration,
                                          const strategies::StrategySpec& strategy) const;

  std::string file_;
  std::optional<cluster::Cluster> cluster_;
  std::map<std::string, plan::ModelShape> shapes_;  // by text of network and replay
  std::map<std::string, std::string> shown_;        // plan text to the label of its first case
};

const plan::ModelShape& CasePlans::shape_of(const cases::Case& c) {
  const std::string name = cases::key_in(c, {cases::Part::kNetwork, &cases::Case::replay});
  const auto known = shapes_.find(name);
  if (known != shapes_.end()) {
    return known->second;
  }
  return shapes_[name] = rank::shape_of(c);
}

CasePlans::CasePlans(const std::optional<cluster::Cluster>& cluster, const std::string& file)
    : file_(file), cluster_(file.empty() ? std::nullopt : cluster) {}

std::optional<plan::AlphaBeta> CasePlans::fits_for(const cases::Case& c,
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

std::string CasePlans::describe(const cases::Case& c) {
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
  // Takes the plan of the first step after the warm-up, or that of a step that sends more bytes.
  plan::CommPlan plan = planner->plan(input, setup, planner->variant(input, c.warmup));
  plan::Cost cost = plan::cost(setup, plan, input.rank);
  bool varies = false;
  for (const plan::Variant variant : plan::variants_of(*planner, input)) {
    plan::CommPlan other = planner->plan(input, setup, variant);
    const plan::Cost its = plan::cost(setup, other, input.rank);
    varies = varies || its.wire_bytes != cost.wire_bytes;
    if (its.wire_bytes > cost.wire_bytes) {
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
  const std::string ops = plan_text(*planner, input, setup, plan);
  const auto [earlier, fresh] = shown_.emplace(ops, c.label);
  return text + (fresh ? ops : fmt::format("     the plan of {}, above\n", earlier->second));
}

/// The first lines of a plan, which are shown in a sweep. A dry run of few cases shows whole plans.
std::string shortened(const std::string& plan) {
  constexpr std::ptrdiff_t kShown = 12;
  const std::ptrdiff_t lines = std::ranges::count(plan, '\n');
  if (lines <= kShown + 1) {
    return plan;
  }
  std::size_t end = 0;
  for (std::ptrdiff_t line = 0; line < kShown; ++line) {
    end = plan.find('\n', end) + 1;
  }
  return fmt::format("{}     ... and {}; --dry-run of this case alone has all\n",
                     plan.substr(0, end), counted(lines - kShown, "line"));
}

}  // namespace

std::string dry_run_text(const cases::Experiment& experiment,
                         const std::optional<cluster::Cluster>& cluster,
                         const std::string& cluster_file) {
  std::string text = fmt::format(
      "{}: {}, {}, up to {}\n", experiment.name, counted(std::ssize(experiment.cases), "case"),
      counted(experiment.runs, "run"), counted(cases::largest_world(experiment), "rank"));
  CasePlans plans(cluster, cluster_file);
  constexpr std::size_t kCasesWithWholePlans = 4;
  const bool sweep = experiment.cases.size() > kCasesWithWholePlans;
  int number = 0;
  for (const cases::Case& c : experiment.cases) {
    text += fmt::format("{:3}  {:<10} {}{}\n", ++number, c.label, cases::command_of(c),
                        c.discard ? "  # discarded" : "");
    const std::string plan = plans.describe(c);
    text += sweep ? shortened(plan) : plan;
  }
  for (const cases::RejectedCase& it : experiment.rejected) {
    const cases::Case& c = it.configuration;
    text += fmt::format("  -  {:<10} {}: rejected: {}\n", c.label, cases::command_of(c), it.why);
  }
  return text;
}

}  // namespace paceline::cli
