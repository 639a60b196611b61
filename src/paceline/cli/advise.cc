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

/// A profile's network is not built in: its layers are replayed.
std::string command_of(record::Configuration best, const std::string& model) {
  if (!names_profile(model)) {
    return report::command_of(best);
  }
  best.model = model;
  std::string text = report::command_of(best);
  const std::string flag = "--model";
  return text.replace(text.find(flag), flag.size(), "--replay");
}

}  // namespace

AdviseCommand::AdviseCommand(CLI::App& app) {
  add_model_flag(app, model_);
  add_cluster_flags(app, cluster_);
  app.add_option("--ranks", ranks_, "ranks; left out: all slots");
  app.add_option("--batch-size", batch_size_, "samples per rank and step");
  app.add_option("--bucket-mb", bucket_mb_, "bucket sizes in MiB to try");
  app.add_option("--device-rate",
                 device_rate_,
                 "samples/s of one device alone; left out: the cluster file's");
  app.add_option("--optimizer", optimizer_, "sgd or adamw [sgd]");
  app.add_option(
      "--engine", engine_, "whose software costs: nccl, gloo, ideal [nccl]");
  app.add_option("--algorithm", algorithm_, "of collectives");
  app.add_option("--error",
                 error_percent_,
                 "error of a prediction, percent of the step [5]");
}

int AdviseCommand::run() const {
  sim::AdviseRequest request{.job = {.network = {},
                                     .cluster = plan::read_cluster(cluster_),
                                     .batch_size = batch_size_,
                                     .optimizer = optimizer_,
                                     .engine = engine_},
                             .error = error_percent_ / 100};
  if (batch_size_ < 0 || ranks_ < 0) {
    throw UsageError(
        fmt::format("--batch-size {} --ranks {}: neither may be negative",
                    batch_size_,
                    ranks_));
  }
  request.job.ranks = ranks_ > 0 ? ranks_ : request.job.cluster.slots();
  if (device_rate_ != 0) {
    request.job.samples_per_s = device_rate_;
  }
  choose_network(model_, request.job);
  if (!algorithm_.empty()) {
    request.job.algorithm = algorithm_;
  }
  if (!bucket_mb_.empty()) {
    request.bucket_mb = bucket_mb_;
  }
  const sim::AdviceTable table = sim::advise(request);
  print(table);
  record::Configuration best = table.rows.front().configuration;
  best.device = engine_ == "gloo" ? "cpu" : "cuda";
  best.engine = engine_ == "gloo" ? "gloo" : "nccl";
  fmt::print("\n* not told apart from the first at an error of {} %\n\n  {}\n",
             error_percent_,
             command_of(best, model_));
  return 0;
}

}  // namespace paceline::cli
