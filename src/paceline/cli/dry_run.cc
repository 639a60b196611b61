// SPDX-License-Identifier: Apache-2.0
#include "paceline/cli/dry_run.h"

#include <algorithm>
#include <cstddef>
#include <iterator>

#include <fmt/format.h>

#include "paceline/base/text.h"
#include "paceline/case/experiment.h"
#include "paceline/cli/case_plan.h"

namespace paceline::cli {

namespace {

constexpr std::size_t kCasesWithWholePlans = 4;

/// What stands for compute and network, where something does.
std::string instruments_of(const records::Configuration& c) {
  std::string text;
  if (!c.replay.empty()) {
    text += fmt::format("; replay of {}", c.replay);
  }
  if (!c.link.empty()) {
    text += fmt::format("; link {}", c.link);
  }
  if (c.stretch != 1) {
    text += fmt::format("; stretched {} times", c.stretch);
  }
  return text;
}

/// The first lines of a plan, as a sweep shows each; a case alone shows all.
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

/// How many samples a rank takes a step, or who looks up its bags.
std::string step_of(const records::Configuration& c) {
  const std::string batch = c.model == "hybrid" ? ""
                            : c.batch_size == cases::kLargestBatch
                                ? fmt::format("batch {}", cases::kMax)
                                : fmt::format("batch {}", c.batch_size);
  return c.has_tables()
             ? fmt::format("{}{}{}, {}", batch, batch.empty() ? "" : ", ",
                           counted(c.trainers, "trainer"),
                           c.servers > 0 ? counted(c.servers, "server") : "which hold the tables")
             : batch;
}

}  // namespace

std::string dry_run_text(const cases::Experiment& experiment,
                         const std::optional<cluster::Cluster>& cluster,
                         const std::string& cluster_file) {
  std::string text = fmt::format(
      "{}: {}, {}, up to {}\n", experiment.name, counted(std::ssize(experiment.cases), "case"),
      counted(experiment.runs, "run"), counted(cases::largest_world(experiment), "rank"));
  CasePlans plans(cluster, cluster_file);
  const bool sweep = experiment.cases.size() > kCasesWithWholePlans;
  int number = 0;
  for (const records::Configuration& c : experiment.cases) {
    text += fmt::format(
        "{:3}  {:<10} {} {} on {} x {}, {} each; {}{}; "
        "{} + {}; {}{}{}\n",
        ++number, c.label, c.model, step_of(c), c.ranks, c.device, counted(c.threads, "thread"),
        c.engine.empty() ? "" : c.engine + ", ", c.dtype, c.warmup, counted(c.steps, "step"),
        c.strategy, instruments_of(c), c.discard ? "; discarded" : "");
    const std::string plan = plans.describe(c);
    text += sweep ? shortened(plan) : plan;
  }
  return text;
}

}  // namespace paceline::cli
