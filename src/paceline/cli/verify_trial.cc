// SPDX-License-Identifier: Apache-2.0
#include "paceline/cli/verify_trial.h"

#include <algorithm>
#include <filesystem>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "paceline/base/file.h"
#include "paceline/cli/job_flags.h"
#include "paceline/cluster/profile_file.h"
#include "paceline/launch/host_launch.h"
#include "paceline/predict/emulate.h"
#include "paceline/predict/engine_choice.h"
#include "paceline/predict/kernel_costs.h"
#include "paceline/records/samples.h"
#include "paceline/stats/quantile.h"

namespace paceline::cli {
namespace {

constexpr int kWarmup = 2, kSteps = 3;
// Steps of compute alone, which every run measures too.
constexpr int kComputeSteps = kSteps + 5;
constexpr double kSilentSeconds = 60;

std::string text_of(const cluster::LinkSpec& link) {
  return fmt::format(
      "{:.6g}Mbit,{}ns", link.bytes_per_s * 8e-6, link.latency_ns);
}

}  // namespace

Where where_of(const predict::AdviseRequest& request,
               const VerifyOptions& options) {
  const bool here =
      launch::is_this_host(request.job.cluster.hosts.front().name);
  const bool replays = !here || names_profile(options.model);
  return {
      .here = here,
      .replays = replays,
      .on_gpus = !replays && predict::engine_of(request.job.engine,
                                                request.job.cluster) == "nccl",
      .profile = std::filesystem::path(options.records)
                     .replace_extension("profile.json")};
}

double Trial::seconds() const {
  return row.stretch *
         ((kWarmup + kSteps) * row.predicted_s +
          kComputeSteps * plan::seconds_of(prediction.compute_only.step));
}

std::vector<Trial> trials_of(const predict::AdviceTable& table,
                             const predict::AdviseRequest& request,
                             const Where& where,
                             int count) {
  std::vector<Trial> trials;
  for (const predict::Advice& advice : table.rows) {
    if (static_cast<int>(trials.size()) == count) {
      break;
    }
    const std::string& strategy = advice.configuration.strategy;
    // PyTorch's reducer wants a network that computes.
    if (!advice.runs || (where.replays && strategy.starts_with("ddp:"))) {
      continue;
    }
    predict::PredictRequest job = request.job;
    job.strategy = strategy;
    if (where.here) {
      job.engine = where.engine();  // the one that runs
    }
    Trial trial;
    trial.row.strategy = strategy;
    trial.prediction = predict::predict(job);
    if (!where.here) {
      const predict::Emulation emulation =
          predict::emulate(job, trial.prediction);
      trial.link = emulation.link;
      trial.prediction = predict::predict(emulation.request);
      trial.row.strategy = emulation.request.strategy;
    }
    trial.row.predicted_s = plan::seconds_of(trial.prediction.times.step);
    trials.push_back(std::move(trial));
  }
  return trials;
}

std::vector<std::string> command_of(const Trial& trial,
                                    const Where& where,
                                    const VerifyOptions& options) {
  const records::Configuration& c = trial.prediction.record.configuration;
  std::vector<std::string> words{"run", "--strategy", trial.row.strategy};
  const auto add = [&](const std::string& flag, const std::string& value) {
    words.insert(words.end(), {flag, value});
  };
  add("--ranks", std::to_string(c.ranks));
  if (where.replays) {
    add("--replay", where.profile);
  } else {
    add("--model", c.model);
    add("--batch-size", std::to_string(c.batch_size));
    add("--optimizer", c.optimizer);
  }
  add("--device", where.on_gpus ? "cuda" : "cpu");
  add("--engine", where.engine());
  if (where.here) {
    const auto hosts = cluster_words(options.cluster);
    words.insert(words.end(), hosts.begin(), hosts.end());
  } else {
    add("--link", text_of(trial.link));
  }
  if (trial.row.stretch > 1) {
    add("--stretch", fmt::format("{:g}", trial.row.stretch));
  }
  const double silent =
      kSilentSeconds + 4 * trial.row.stretch * trial.row.predicted_s;
  add("--timeout", fmt::format("{:.0f}", silent));
  add("--warmup", std::to_string(kWarmup));
  add("--steps", std::to_string(kSteps));
  add("--records", options.records);
  words.emplace_back("--yes");
  return words;
}

void write_profile(const std::string& path,
                   const predict::Prediction& prediction) {
  const plan::PlanInput& input = prediction.job->input;
  const double rate = prediction.costs.software.kernels.front().bytes_per_s;
  cluster::ProfiledModel profiled{
      .model = input.model,
      .profile = prediction.costs.profile,
      .batch_size = prediction.record.configuration.batch_size,
      .device = "cpu",
      .update = {},
      .memory = {}};
  if (rate > 0) {
    profiled.update = plan::picoseconds_of(predict::update_bytes(input) / rate);
  }
  write_atomically(path, cluster::to_json_text(profiled));
}

void take(const records::RunRecord& record, Verified& row) {
  const std::vector<double> slowest = records::slowest_step_s(record);
  if (record.error || slowest.empty()) {
    row.error = record.error.value_or("it has no samples");
    return;
  }
  row.measured_s = stats::median(slowest);
  row.fastest_s = std::ranges::min(slowest);
  row.slowest_s = std::ranges::max(slowest);
  if (record.link_check) {
    row.operations = record.link_check->operations;
    row.late = record.link_check->late;
  }
}

}  // namespace paceline::cli
