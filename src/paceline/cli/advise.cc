// SPDX-License-Identifier: Apache-2.0
#include "paceline/cli/advise.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/cli/job_flags.h"
#include "paceline/report/command.h"
#include "paceline/sim/advise.h"

namespace paceline::cli {
namespace {

void print(const sim::AdviceTable& table) {
  const auto ms = [](plan::Picoseconds time) {
    return plan::seconds_of(time) * 1e3;
  };
  fmt::print("   {:>9}  {:>21}  {:>12}  strategy\n",
             "step, ms",
             "[with its error]",
             "exposed, ms");
  for (const sim::Advice& row : table.rows) {
    fmt::print(" {} {:9.2f}  {:>21}  {:12.2f}  {}\n",
               row.like_best ? '*' : ' ',
               ms(row.step),
               fmt::format("[{:.2f}, {:.2f}]", ms(row.low), ms(row.high)),
               ms(row.exposed),
               row.configuration.strategy);
  }
  for (const sim::Unfit& unfit : table.unfit) {
    fmt::print("   {:>9}  {}: {}\n", "-", unfit.strategy, unfit.why);
  }
}

}  // namespace

AdviseCommand::AdviseCommand(CLI::App& app) : job_(app) {
  app.add_option("--bucket-mb", bucket_mb_, "bucket sizes in MiB to try")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option("--error",
                 error_percent_,
                 "error of a prediction, percent of the step [5]");
}

int AdviseCommand::run() const {
  sim::AdviseRequest request{.job = job_.request(),
                             .error = error_percent_ / 100};
  const auto worlds = job_.worlds(request.job.cluster);
  if (worlds.size() > 1) {
    throw UsageError(fmt::format(
        "--ranks: advice is for one world, {} are given", worlds.size()));
  }
  request.job.ranks = worlds.front();
  if (!bucket_mb_.empty()) {
    request.bucket_mb = bucket_mb_;
  }
  const sim::AdviceTable table = sim::advise(request);
  print(table);
  record::Configuration best = table.rows.front().configuration;
  best.device = job_.engine() == "gloo" ? "cpu" : "cuda";
  best.engine = job_.engine() == "gloo" ? "gloo" : "nccl";
  if (names_profile(job_.model())) {
    best.replay = job_.model();  // not built in: its layers are replayed
  }
  fmt::print("\n* not told apart from the first at an error of {} %\n\n  {}\n",
             error_percent_,
             report::command_of(best));
  return 0;
}

}  // namespace paceline::cli
