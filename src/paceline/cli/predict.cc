// SPDX-License-Identifier: Apache-2.0
#include "paceline/cli/predict.h"

#include <cstdio>
#include <ctime>
#include <optional>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/chrono.h>
#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/base/file.h"
#include "paceline/cli/job_flags.h"
#include "paceline/record/store.h"
#include "paceline/record/trace.h"
#include "paceline/report/formats.h"
#include "paceline/sim/predict.h"

namespace paceline::cli {

PredictCommand::PredictCommand(CLI::App& app) {
  add_model_flag(app, model_);
  add_cluster_flags(app, cluster_);
  app.add_option("--ranks", ranks_, "ranks; left out: all slots");
  app.add_option("--strategy", strategy_, "as in paceline run [fusion]");
  app.add_option("--batch-size", batch_size_, "samples per rank and step");
  app.add_option("--bucket-mb", bucket_mb_, "MiB of a bucket [25]");
  app.add_option("--device-rate",
                 device_rate_,
                 "samples/s of one device alone; left out: the cluster file's");
  app.add_option("--optimizer", optimizer_, "sgd or adamw [sgd]");
  app.add_option(
      "--engine", engine_, "whose software costs: nccl, gloo, ideal [nccl]");
  app.add_option("--algorithm",
                 algorithm_,
                 "of collectives: ring, tree, halving-doubling, hierarchical, "
                 "measured");
  app.add_option("--steps", steps_, "steps of the record [10]");
  app.add_option("--noise", sigma_, "sigma of log-normal compute times [0]");
  app.add_option("--stragglers",
                 straggler_probability_,
                 "probability of a straggler per rank and step [0]");
  app.add_option(
      "--straggler-factor", straggler_factor_, "how much slower it is [1]");
  app.add_option("--seed", seed_, "of the noise [0]");
  app.add_option("--trace", trace_, "write the timeline, for ui.perfetto.dev");
  app.add_option("--records", records_, "append the record to this file");
  app.add_option("--format", format_, "as in paceline run [table]");
}

int PredictCommand::run() const {
  const report::Format& format = report::find_format(format_);
  for (const auto& [flag, path] :
       {std::pair{"--trace", trace_}, {"--records", records_}}) {
    if (!path.empty()) {
      check_writable(flag, path);
    }
  }
  if (batch_size_ < 0 || ranks_ < 0) {
    throw UsageError(
        fmt::format("--batch-size {} --ranks {}: neither may be negative",
                    batch_size_,
                    ranks_));
  }
  sim::PredictRequest request{
      .network = {},
      .cluster = plan::read_cluster(cluster_),
      .strategy = strategy_,
      .bucket_mb = bucket_mb_,
      .batch_size = batch_size_,
      .optimizer = optimizer_,
      .engine = engine_,
      .steps = steps_,
      .noise = {.seed = seed_,
                .sigma = sigma_,
                .straggler_probability = straggler_probability_,
                .straggler_factor = straggler_factor_,
                .rank_factor = {}}};
  request.ranks = ranks_ > 0 ? ranks_ : request.cluster.slots();
  if (device_rate_ != 0) {
    request.samples_per_s = device_rate_;
  }
  choose_network(model_, request);
  if (!algorithm_.empty()) {
    request.algorithm = algorithm_;
  }
  sim::Prediction prediction = sim::predict(request, !trace_.empty());
  prediction.record.started_at =
      fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
  const std::vector<record::RunRecord> records{prediction.record};
  fmt::print("{}", format.render(records));
  std::fflush(stdout);
  fmt::print(stderr, "{}", sim::summary_of(prediction));
  if (!trace_.empty()) {
    record::write_trace_file(trace_, prediction.spans);
    fmt::print(stderr, "trace: {}\n", trace_);
  }
  if (!records_.empty()) {
    record::RecordWriter(records_).append(prediction.record);
    fmt::print(stderr, "records: {}\n", records_);
  }
  return 0;
}

}  // namespace paceline::cli
