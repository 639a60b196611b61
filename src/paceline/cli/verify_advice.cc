// SPDX-License-Identifier: Apache-2.0
#include "paceline/cli/verify_advice.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "paceline/base/error.h"
#include "paceline/base/file.h"
#include "paceline/base/process.h"
#include "paceline/cli/job_flags.h"
#include "paceline/plan/link_spec.h"
#include "paceline/plan/profile_file.h"
#include "paceline/record/store.h"
#include "paceline/sim/engines.h"
#include "paceline/stats/quantile.h"
#include "paceline/stats/summary.h"

namespace paceline::cli {
namespace {

namespace fs = std::filesystem;

constexpr int kRanksPerCore = 16;  // as many as `paceline run` takes
constexpr int kWarmup = 2, kSteps = 5;
// What Gloo brings over loopback with a core to itself, cautiously.
constexpr double kLoopbackBytesPerS = 400e6;
constexpr std::chrono::minutes kPatience{20};

int cores_here() {
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

std::string name_of_this_host() {
  char name[256] = "";
  return gethostname(name, sizeof(name) - 1) == 0 ? name : "";
}

bool is_this_machine(const plan::Cluster& cluster) {
  return cluster.hosts.size() == 1 &&
         (cluster.hosts[0].name == "localhost" ||
          cluster.hosts[0].name == name_of_this_host());
}

/// A folder of its own, gone at the end.
class Folder {
 public:
  Folder() {
    std::string name = fs::temp_directory_path() / "paceline-verify-XXXXXX";
    if (mkdtemp(name.data()) == nullptr) {
      throw WorldError("no folder for records can be made in " +
                       fs::temp_directory_path().string());
    }
    path_ = name;
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string operator/(const std::string& name) const { return path_ / name; }

 private:
  fs::path path_;
};

/// What each rank's link is on this machine.
plan::LinkSpec emulated_link(const sim::PredictRequest& job) {
  const sim::Machine machine = sim::machine_of(job.cluster);
  const bool several = plan::ranks_per_host(job.cluster, job.ranks).size() > 1;
  const sim::LinkModel& link = several ? machine.network : machine.device;
  return {.bytes_per_s = static_cast<double>(
              std::min(link.bytes_per_s, machine.device.bytes_per_s)),
          .latency_ns = link.latency / plan::kPicosecondsPerNanosecond};
}

std::string text_of(const plan::LinkSpec& link) {
  return fmt::format(
      "{:.6g}Mbit,{}ns", link.bytes_per_s * 8e-6, link.latency_ns);
}

/// The job on emulated links: one host, its ranks behind a link each.
sim::PredictRequest on_links(const sim::PredictRequest& job,
                             const plan::LinkSpec& link,
                             const sim::Prediction& like) {
  sim::PredictRequest emulated = job;
  emulated.cluster.hosts = {
      {.name = "here", .slots = job.ranks, .interface = {}}};
  emulated.profile = like.costs.profile;
  emulated.samples_per_s.reset();
  emulated.batch_size = like.record.configuration.batch_size;
  emulated.machine = sim::Machine{};
  emulated.machine->device = emulated.machine->network = {
      .bytes_per_s = std::llround(link.bytes_per_s),
      .latency = link.latency_ns * plan::kPicosecondsPerNanosecond,
      .sharing = plan::LinkSharing::kDevice};
  emulated.algorithm.reset();
  emulated.software = sim::SoftwareCosts{};
  const sim::SoftwareCosts& link_costs = sim::engine_costs_named("link").costs;
  emulated.software->serial_collectives = link_costs.serial_collectives;
  emulated.software->side_by_side = link_costs.side_by_side;
  emulated.software->kernels = like.costs.software.kernels;
  return emulated;
}

/// So slow that loopback brings what all ranks' links carry at once.
double stretch_for(const plan::LinkSpec& link, plan::Rank ranks) {
  return std::max(1.0,
                  std::ceil(link.bytes_per_s * ranks /
                            (kLoopbackBytesPerS * cores_here())));
}

void write_profile(const std::string& path, const sim::Prediction& prediction) {
  plan::PlanInput input = prediction.job->input;
  const double rate = prediction.costs.software.kernels.front().bytes_per_s;
  plan::ProfiledModel profiled{
      .model = input.model,
      .profile = prediction.costs.profile,
      .batch_size = prediction.record.configuration.batch_size,
      .device = "cpu",
      .update = {},
      .memory = {}};
  if (rate > 0) {
    profiled.update = plan::picoseconds_of(sim::update_bytes(input) / rate);
  }
  write_atomically(path, plan::to_json_text(profiled));
}

/// Runs `command` of this program and takes the measured step from its record.
void run_one(std::vector<std::string> command,
             const std::string& records,
             Verified& row) {
  command.insert(command.begin(), fs::read_symlink("/proc/self/exe"));
  command.insert(command.end(),
                 {"--warmup",
                  std::to_string(kWarmup),
                  "--steps",
                  std::to_string(kSteps),
                  "--records",
                  records,
                  "--yes"});
  const auto result = run_command(command, kPatience);
  if (!result || !result->succeeded()) {
    row.error = fmt::format("{} failed", fmt::join(command, " "));
    return;
  }
  const record::RunRecord record = record::read_records(records).records.back();
  std::vector<std::vector<std::int64_t>> steps;
  for (const record::RankSamples& rank : record.ranks) {
    steps.push_back(rank.step_ns);
  }
  if (record.error || steps.empty()) {
    row.error = record.error.value_or("it has no samples");
    return;
  }
  row.measured_s = stats::median(stats::slowest_rank_seconds(steps));
  row.valid = record.valid();
}

}  // namespace

Verification verify(const sim::AdviceTable& table,
                    const sim::AdviseRequest& request,
                    const std::string& model,
                    int count) {
  const sim::PredictRequest& job = request.job;
  const bool here = is_this_machine(job.cluster) && !names_profile(model);
  const int most = kRanksPerCore * cores_here();
  if (!here && job.ranks > most) {
    throw UsageError(fmt::format(
        "--verify: cluster '{}' is not this machine, and {} ranks are more "
        "than its {} cores take with emulated links ({})",
        job.cluster.name,
        job.ranks,
        cores_here(),
        most));
  }
  const plan::LinkSpec link = emulated_link(job);
  Verification verification{
      .where = here ? "this machine, as the cluster describes it"
                    : fmt::format("this machine, every rank behind an emulated "
                                  "link of {}, compute replayed",
                                  text_of(link)),
      .rows = {}};
  const Folder folder;
  for (const sim::Advice& advice : table.rows) {
    const std::string& strategy = advice.configuration.strategy;
    if (static_cast<int>(verification.rows.size()) == count) {
      break;
    }
    // PyTorch's reducer wants a network that computes.
    if (!advice.runs || (!here && strategy.starts_with("ddp:"))) {
      continue;
    }
    sim::PredictRequest as = job;
    as.strategy = strategy;
    sim::Prediction prediction = sim::predict(as);
    std::vector<std::string> command{
        "run", "--strategy", strategy, "--ranks", std::to_string(job.ranks)};
    if (here) {
      command.insert(
          command.end(),
          {"--model",
           model,
           "--batch-size",
           std::to_string(prediction.record.configuration.batch_size)});
    } else {
      prediction = sim::predict(on_links(as, link, prediction));
      write_profile(folder / "layers.profile.json", prediction);
      command.insert(command.end(),
                     {"--replay",
                      folder / "layers.profile.json",
                      "--link",
                      text_of(link)});
      if (const double stretch = stretch_for(link, job.ranks); stretch > 1) {
        command.insert(command.end(),
                       {"--stretch", fmt::format("{:g}", stretch)});
      }
    }
    Verified& row = verification.rows.emplace_back();
    row.strategy = strategy;
    row.predicted_s = plan::seconds_of(prediction.times.step);
    run_one(std::move(command), folder / "runs.jsonl", row);
  }
  return verification;
}

}  // namespace paceline::cli
