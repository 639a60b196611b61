// SPDX-License-Identifier: Apache-2.0
#include "paceline/cli/advised_experiment.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/base/file.h"
#include "paceline/base/text.h"
#include "paceline/case/check.h"
#include "paceline/case/machine.h"
#include "paceline/case/raw_settings.h"
#include "paceline/cli/catalogue.h"
#include "paceline/cli/job_flags.h"
#include "paceline/cluster/link_spec.h"
#include "paceline/cluster/profile_file.h"
#include "paceline/launch/host_launch.h"
#include "paceline/plan/engine_traits.h"
#include "paceline/plan/wire_bytes.h"
#include "paceline/predict/engine_choice.h"
#include "paceline/predict/engines.h"
#include "paceline/predict/kernel_costs.h"
#include "paceline/strategies/hosts.h"

namespace paceline::cli {
namespace {

// What Gloo reaches with one rank a core, roughly: from a start to the end of a small collective,
// and the bytes that a rank sends.
constexpr double kStartSeconds = 1e-3, kBytesPerSecond = 2.5e8;
constexpr double kMostStretch = 10'000;
// Steps of a stretched case take long.
constexpr int kReplayWarmup = 2, kReplaySteps = 3;
constexpr double kSilentSeconds = 60;

bool is_here(const predict::AdviseRequest& request) {
  return launch::is_this_host(request.job.cluster.hosts.front().name);
}

/// The path of the profile whose layers are replayed.
std::string profile_path(const AdvisedExperiment& wanted) {
  return std::filesystem::path(wanted.path).replace_extension("profile.json");
}

/// The slower of the links that ranks cross, one for each rank, which carries as much each way as
/// the other.
cluster::LinkSpec slowest_link(const predict::PredictRequest& job) {
  const cluster::Machine machine = machine_of(
      job.cluster, predict::priced_engine(job.cost_table(), job.engine, job.cluster).runs_on());
  const auto each_way = [](const cluster::LinkModel& link) {
    return std::max<std::int64_t>(1, link.bytes_per_s * link.links() / 2);
  };
  const bool several = cluster::ranks_per_host(job.cluster, job.ranks).size() > 1;
  const cluster::LinkModel& link = several ? machine.network : machine.device;
  return {.bytes_per_s = static_cast<double>(std::min(each_way(link), each_way(machine.device))),
          .latency_ns = link.latency / plan::kPicosecondsPerNanosecond};
}

/// How many times slower than it is a link must be, so that Gloo ends every collective of the job
/// before the link would have.
double stretch_for(const simulator::Job& job, const cluster::LinkSpec& link) {
  const double ranks_a_core =
      std::max(1.0, static_cast<double>(job.input.world) / cases::usable_cores());
  double largest = 1;
  for (const cluster::CollectiveCall& call : job.collective_shapes) {
    if (call.group.ranks > 1) {
      const auto wire =
          static_cast<double>(plan::wire_bytes(call.pattern, call.bytes, call.group.ranks));
      const int rounds = cluster::latencies_of(call.pattern, call.group.ranks);
      const double engine = ranks_a_core * (kStartSeconds + wire / kBytesPerSecond);
      largest = std::max(largest, engine / (rounds * static_cast<double>(link.latency_ns) * 1e-9 +
                                            wire / link.bytes_per_s));
    }
  }
  return std::min(kMostStretch, std::ceil(largest));
}

void write_profile(const std::string& path, const predict::Prediction& prediction) {
  const plan::PlanInput& input = prediction.job->input;
  const double rate = prediction.costs.software.kernels.front().bytes_per_s;
  cluster::ProfiledModel profiled{.model = input.model,
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

/// The experiment on its way to the file.
class Writing {
 public:
  Writing(const AdvisedExperiment& wanted, const predict::AdviseRequest& request)
      : wanted_(wanted),
        request_(request),
        here_(is_here(request)),
        replays_(!here_ || names_profile(wanted.model)) {}

  std::string write(const predict::AdviceTable& table) {
    for (const predict::Advice& advice : table.rows) {
      if (std::ssize(strategies_) < wanted_.strategies) {
        add(advice);
      }
    }
    if (strategies_.empty()) {
      throw UsageError("--write: no strategy of the table runs here");
    }
    cases::RawSettings raw;
    raw.defaults = settings();
    raw.sweep.emplace()["strategy"] = strategies_;
    write_atomically(wanted_.path, cases::to_toml(raw));
    return fmt::format("experiment: {}, the best {} on {}", wanted_.path,
                       strategies_.size() == 1 ? std::string("strategy")
                                               : fmt::format("{} strategies", strategies_.size()),
                       here_ ? fmt::format("cluster '{}'{}", request_.job.cluster.name,
                                           replays_ ? ", compute replayed" : "")
                             : "emulated links here, compute replayed");
  }

 private:
  void add(const predict::Advice& advice) {
    std::string strategy = advice.configuration.strategy;
    const strategies::StrategySpec spec = strategies::parse_strategy(strategy);
    // PyTorch's reducer needs a network that computes.
    if (replays_ && spec.has("ddp")) {
      return;
    }
    predict::PredictRequest job = request_.job;
    job.strategy = strategy;
    predict::Prediction prediction = predict::predict(job);
    if (!here_) {
      // All ranks are on one host here.
      strategy = strategies::with_local_size(
          spec, cluster::ranks_per_host(job.cluster, job.ranks).front());
      if (std::ranges::any_of(strategies_,
                              [&](const auto& written) { return written.text == strategy; })) {
        return;  // with its ranks a host it is one that is written already
      }
      stretch_ = std::max(stretch_, stretch_for(*prediction.job, slowest_link(job)));
    }
    step_s_ = std::max(step_s_, plan::seconds_of(prediction.times.step));
    if (strategies_.empty()) {
      first_ = std::move(prediction);
    }
    strategies_.push_back({std::move(strategy), {}});
  }

  cases::RawValues settings() const {
    const records::Configuration& c = first_.record.configuration;
    std::map<std::string, std::string> texts{
        {"about",
         fmt::format("the best strategies for {} on '{}', as paceline advise predicts them",
                     c.model, request_.job.cluster.name)},
        {"ranks", std::to_string(c.ranks)}};
    const predict::PredictRequest& job = request_.job;
    const plan::EngineTraits* priced = plan::find_engine_traits(
        job.cost_table().engine(predict::engine_of(job.engine, job.cluster)).runs_on());
    const plan::EngineTraits& engine =
        replays_ || priced == nullptr ? plan::engine_for("cpu") : *priced;
    texts["device"] = engine.made_for;
    texts["engine"] = engine.name;
    if (replays_) {
      texts["replay"] = profile_path(wanted_);
      write_profile(texts["replay"], first_);
      texts["warmup"] = std::to_string(kReplayWarmup);
      texts["steps"] = std::to_string(kReplaySteps);
      texts["timeout"] = fmt::format("{:.0f}", kSilentSeconds + 4 * stretch_ * step_s_);
    } else {
      texts["model"] = c.model;
      texts["batch_size"] = std::to_string(c.batch_size);
      texts["accumulate"] = std::to_string(c.accumulate);
      texts["sequence_length"] = std::to_string(c.sequence_length);
      texts["optimizer"] = c.optimizer;
    }
    if (here_) {
      texts["cluster"] = wanted_.cluster.file;
      texts["hosts"] = wanted_.cluster.hosts;
      texts["hostfile"] = wanted_.cluster.hostfile;
    } else {
      const cluster::LinkSpec link = slowest_link(request_.job);
      texts["link"] = fmt::format("{:.6g}Mbit,{}ns", link.bytes_per_s * 8e-6, link.latency_ns);
      texts["stretch"] = fmt::format("{:g}", stretch_);
    }
    cases::RawValues values;
    for (auto& [key, text] : texts) {
      if (!text.empty()) {
        values[key] = {{std::move(text), {}}};
      }
    }
    return values;
  }

  const AdvisedExperiment& wanted_;
  const predict::AdviseRequest& request_;
  bool here_, replays_;
  std::vector<cases::RawValue> strategies_;
  predict::Prediction first_;  // whose layers are replayed
  double stretch_ = 1, step_s_ = 0;
};

}  // namespace

void check_experiment(const AdvisedExperiment& wanted, const predict::AdviseRequest& request) {
  if (wanted.path.empty()) {
    return;
  }
  check_outputs({{"--write", wanted.path}, {"--write", profile_path(wanted)}},
                {{"--cluster", wanted.cluster.file},
                 {"--hostfile", wanted.cluster.hostfile},
                 {"--model", names_profile(wanted.model) ? wanted.model : ""}});
  const predict::PredictRequest& job = request.job;
  const int most = cases::kMostRanksPerCore * cases::usable_cores();
  if (!is_here(request) && job.ranks > most) {
    throw UsageError(fmt::format(
        "--write: cluster '{}' is not this machine, and {} ranks are more than its {} take with "
        "emulated links ({})",
        job.cluster.name, job.ranks, counted(cases::usable_cores(), "core"), most));
  }
}

std::string write_experiment(const AdvisedExperiment& wanted, const predict::AdviceTable& table,
                             const predict::AdviseRequest& request) {
  return Writing(wanted, request).write(table);
}

}  // namespace paceline::cli
