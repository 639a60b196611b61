// SPDX-License-Identifier: Apache-2.0
#include "paceline/cli/dry_run.h"

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
  add(rank::partial_period_warning(planner, input, c.warmup, c.steps));
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
/// starts no ranks.
class CasePlans {
 public:
  /// Describes a case: its wire bytes per rank and step, and its numbers of collective calls,
  /// rounds and extra bytes of memory. If `whole`, adds the plan of rank 0 after the warm-up, one
  /// operation per line.
  std::string describe(const cases::Case& configuration, bool whole);

 private:
  std::map<std::string, plan::ModelShape> shapes_;  // shapes traced before, by text of network and
                                                    // replay
};

std::string CasePlans::describe(const cases::Case& c, bool whole) {
  const strategies::StrategySpec strategy = strategies::strategy_of(c);
  if (!c.not_run.empty()) {
    return fmt::format("     not run: {}\n", c.not_run);
  }
  if (strategy.external() || cases::runs_external_program(c)) {
    return fmt::format("     performed by {}: no plan\n     {}\n", cases::runner_name_of(c),
                       rank::shell_text(rank::outside_command(c, {})));
  }
  const bool by_times = c.ranks > 1 && strategies::needs_times(strategy);
  if (by_times && (c.replay.empty() || c.link.empty())) {
    return "     made by the times of layers and collectives, which are measured when the case "
           "begins: no plan yet\n";
  }
  const std::string network =
      cases::key_of_fields(c, {cases::Part::kNetwork, &cases::Case::replay});
  if (!shapes_.contains(network)) {
    shapes_[network] = rank::shape_of(c);
  }
  plan::PlanInput input = rank::plan_input_of(c, shapes_[network]);
  if (by_times) {
    rank::add_configured_times(c, input);
    input.alpha_beta->concurrent_collectives = cluster::concurrent_collectives_of(c.engine);
  }
  const auto planner = rank::add_traced_statistics_averaging(c, rank::planner_of(c, strategy));
  const plan::Setup setup = planner->setup(input);
  // The described plan is that of the first step after the warm-up. If another step of the period
  // sends more bytes, that step's plan is described instead.
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
  return whole ? text + plan_text(*planner, input, setup, plan) : text;
}

}  // namespace

std::string dry_run_text(const cases::Experiment& experiment) {
  std::string text = fmt::format(
      "{}: {}, {}, up to {}\n", experiment.name, counted(std::ssize(experiment.cases), "case"),
      counted(experiment.runs, "run"), counted(cases::largest_world(experiment), "rank"));
  CasePlans plans;
  constexpr std::size_t kCasesWithPlans = 4;
  const bool whole = experiment.cases.size() <= kCasesWithPlans;
  int number = 0;
  for (const cases::Case& c : experiment.cases) {
    text += fmt::format("{:3}  {:<10} {}{}\n{}", ++number, c.label, cases::command_of(c),
                        c.discard ? "  # discarded" : "", plans.describe(c, whole));
  }
  for (const cases::RejectedCase& it : experiment.rejected) {
    const cases::Case& c = it.configuration;
    text += fmt::format("  -  {:<10} {}: rejected: {}\n", c.label, cases::command_of(c), it.why);
  }
  return text + (whole ? "" : "--dry-run of one case alone has its plan too\n");
}

}  // namespace paceline::cli
