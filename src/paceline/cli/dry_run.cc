// SPDX-License-Identifier: Apache-2.0
#include "paceline/cli/dry_run.h"

#include <fmt/format.h>

#include "paceline/cli/case_plan.h"

namespace paceline::cli {

std::string dry_run_text(const experiment::Experiment& experiment) {
  const int largest = experiment::largest_world(experiment);
  std::string text = fmt::format("{}: {} case{}, {} run{}, up to {} rank{}\n",
                                 experiment.name,
                                 experiment.cases.size(),
                                 experiment.cases.size() == 1 ? "" : "s",
                                 experiment.runs,
                                 experiment.runs == 1 ? "" : "s",
                                 largest,
                                 largest == 1 ? "" : "s");
  CasePlans plans;
  int number = 0;
  for (const record::Configuration& c : experiment.cases) {
    text += fmt::format(
        "{:3}  {:<10} {} batch {} on {} x {} ({} threads), {}, {}, {} + {} "
        "steps, {}{}\n",
        ++number,
        c.label,
        c.model,
        c.batch_size,
        c.ranks,
        c.device,
        c.threads,
        c.engine,
        c.dtype,
        c.warmup,
        c.steps,
        c.strategy,
        c.discard ? ", discarded" : "");
    text += plans.describe(c);
  }
  return text;
}

}  // namespace paceline::cli
