// SPDX-License-Identifier: Apache-2.0
#include "paceline/cli/comm_command.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <mutex>
#include <optional>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "paceline/base/clock.h"
#include "paceline/base/error.h"
#include "paceline/base/shell.h"
#include "paceline/base/text.h"
#include "paceline/cli/argument_checks.h"
#include "paceline/cli/catalogue.h"
#include "paceline/cli/comm_predict.h"
#include "paceline/cli/job_flags.h"
#include "paceline/cluster/cluster_units.h"
#include "paceline/cluster/link_spec.h"
#include "paceline/engines/engine_table.h"
#include "paceline/engines/run_rank.h"
#include "paceline/experiment/check.h"
#include "paceline/launch/job_launch.h"
#include "paceline/launch/signals.h"
#include "paceline/launch/supervise.h"
#include "paceline/measure/comm_case.h"
#include "paceline/measure/job_hosts.h"
#include "paceline/measure/results.h"
#include "paceline/plan/wire_bytes.h"
#include "paceline/report/comm_table.h"
#include "paceline/report/formats.h"

namespace paceline::cli {
namespace {

constexpr std::int64_t kLargest = std::int64_t{1} << 34;

// "4096", "4KiB", "256MB"
std::int64_t parse_size(const std::string& flag, const std::string& text) {
  const bool plain = text.find_first_not_of("0123456789") == std::string::npos;
  const std::int64_t bytes =
      cluster::parse_bytes(flag, plain && !text.empty() ? text + "B" : text);
  if (bytes < 1 || bytes > kLargest) {
    throw UsageError(fmt::format("{} {}: must be 1 B to 16 GiB", flag, text));
  }
  return bytes;
}

std::vector<std::int64_t> sizes_of(std::int64_t least,
                                   std::int64_t most,
                                   double factor) {
  if (least > most) {
    throw UsageError(fmt::format("--min {} is above --max {}", least, most));
  }
  if (!(factor > 1) || factor > 1e6) {
    throw UsageError(
        fmt::format("--factor {}: must be above 1, at most 1000000", factor));
  }
  std::vector<std::int64_t> sizes;
  for (auto size = static_cast<double>(least); std::llround(size) <= most;
       size *= factor) {
    if (sizes.empty() || sizes.back() != std::llround(size)) {
      sizes.push_back(std::llround(size));
    }
  }
  return sizes;
}

std::vector<std::string> known_operations() {
  return {plan::kOperations.begin(), plan::kOperations.end()};
}

std::vector<std::string> operations_of(const std::vector<std::string>& only) {
  if (only.empty()) {
    return known_operations();
  }
  std::vector<std::string> once;
  for (const std::string& name : only) {
    add_once(once, name);
  }
  return once;
}

/// Of "8,64"; none of an empty text.
std::vector<int> numbers_of(const std::string& text) {
  std::vector<int> numbers;
  for (const std::string& number : split_at(text, ',')) {
    if (!text.empty()) {
      numbers.push_back(number_from<int>(number).value_or(0));
    }
  }
  return numbers;
}

void check_link(measure::CommSetting& setting) {
  std::erase(setting.link, ' ');
  if (setting.link.empty()) {
    return;
  }
  cluster::parse_link("--link", setting.link);
  if (setting.device != "cpu") {
    throw UsageError(
        fmt::format("--link: '{}' holds operations on the CPU alone, and the "
                    "device is {}",
                    setting.link,
                    setting.device));
  }
}

}  // namespace

CommCommand::CommCommand(CLI::App& app) {
  app.add_option("--only", only_, "operations, separated by commas")
      ->delimiter(',')
      ->type_name("NAME,NAME")
      ->check(one_of("operation", known_operations()));
  app.add_option("--min", min_, "smallest size [4B]")->type_name("SIZE");
  app.add_option("--max", max_, "largest size [256MiB]")->type_name("SIZE");
  app.add_option("--factor", factor_, "from a size to the next one [4]")
      ->type_name("X");
  app.add_option("--iterations", options_.iterations, "measured ones [20]")
      ->check(whole_number_in(1, 1'000'000))
      ->type_name("N");
  app.add_option("--warmup", options_.warmup, "discarded iterations [3]")
      ->check(whole_number_in(0, 1'000'000))
      ->type_name("N");
  add_ranks(app);
  options_.setting.engine = options_.setting.device = "auto";
  app.add_option("--engine", options_.setting.engine, "what moves the bytes")
      ->type_name("NAME");
  app.add_option("--device", options_.setting.device, "where the bytes lie")
      ->check(one_of("device", {"auto", "cpu", "cuda"}))
      ->type_name("NAME");
  app.add_option("--dtype", options_.setting.dtype, "of the elements [fp32]")
      ->check(one_of("dtype", measure::comm_dtypes()))
      ->type_name("TYPE");
  app.add_option("--link",
                 options_.setting.link,
                 "hold every operation until such a link would have delivered "
                 "it")
      ->type_name("RATE,LATENCY");
  app.add_option("--interface", options_.setting.interface, "of the network")
      ->take_last()
      ->type_name("NAME");
  app.add_option("--rendezvous", rendezvous_, "HOST:PORT or file:PATH")
      ->type_name("WHERE");
  app.add_option("--timeout", timeout_, "a rank silent for so long has failed")
      ->check(number_in(1, 86400))
      ->type_name("SECONDS");
  app.add_option("--records",
                 records_,
                 "JSON Lines file that is appended to [results/comm-<utc>."
                 "jsonl]")
      ->type_name("FILE");
  add_format_flag(app, format_, report::names_of(report::comm_formats()));
  add_cluster_flags(app, choice_);
  app.add_option("--ssh-command", ssh_command_, "as in paceline run")
      ->type_name("TEXT");
  app.add_option("--fit",
                 fit_.path,
                 "write alpha-beta models of the operations to this file, "
                 "which cluster files name under `collectives`")
      ->type_name("FILE");
}

void CommCommand::add_ranks(CLI::App& app) {
  app.add_option("--ranks",
                 worlds_,
                 "processes to start on this machine [one per core, at "
                 "least 2]; with --predict one number or several: 8,64,512")
      ->check([one = whole_number_in(2, 1 << 20)](const std::string& text) {
        for (const std::string& number : split_at(text, ',')) {
          if (std::string wrong = one(number); !wrong.empty()) {
            return wrong;
          }
        }
        return std::string();
      })
      ->type_name("N");
  app.add_flag("--predict",
               predict_,
               "measure nothing: what the operations would take on --cluster");
}

void CommCommand::check(const launch::Launch& launch) {
  const experiment::Machine machine = machine_here({});
  auto& setting = options_.setting;
  setting.device = experiment::resolve_device(setting.device, machine);
  setting.engine =
      experiment::resolve_engine(setting.engine, setting.device, machine);
  if (std::ranges::find(machine.engines, setting.engine) ==
      machine.engines.end()) {
    throw UsageError("--engine: " +
                     experiment::not_built_in(setting.engine, machine));
  }
  if (setting.device == "cuda" && machine.cuda_devices == 0) {
    throw UsageError("--device: 'cuda', but PyTorch sees no GPU here");
  }
  const auto& engine = engines::find_engine(setting.engine);
  if (!engine.moves(setting.device)) {
    throw UsageError(fmt::format("--engine: '{}' moves bytes between {} alone",
                                 setting.engine,
                                 engine.moves_cpu ? "CPUs" : "GPUs"));
  }
  options_.operations = operations_of(only_);
  options_.sizes =
      sizes_of(parse_size("--min", min_), parse_size("--max", max_), factor_);
  options_.timeout = to_milliseconds(timeout_);
  options_.progress = isatty(STDERR_FILENO) == 1;
  check_link(options_.setting);
  if (launch.self.rank > 0) {
    return;  // rank 0 checks the rest
  }
  const bool alone = launch.self.launcher == "single";
  check_cluster(launch);
  if (ranks_ == 0) {
    ranks_ = std::max(2, cluster_ ? cluster_->slots() : machine.cores);
  }
  if (cluster_) {
    launch_of_ranks();
  } else if (alone) {
    experiment::check_ranks_here("--ranks", ranks_, machine.cores);
  }
  const auto rows = measure::comm_rows(options_.operations,
                                       options_.sizes,
                                       options_.setting.dtype,
                                       alone ? ranks_ : launch.self.world);
  check_fit(rows);
  results_.emplace(CommResults::Options{.format = format_,
                                        .records = records_,
                                        .fit = fit_,
                                        .rows = rows.size()});
}

// Reads the cluster, whose hosts this program starts unless a launcher has.
void CommCommand::check_cluster(const launch::Launch& launch) {
  if (choice_.empty()) {
    return;
  }
  cluster::Cluster cluster = cluster::read_cluster(choice_);
  if (launch.self.launcher == "single") {
    cluster_ = std::move(cluster);
  } else {
    measure::refuse_hosts(choice_, launch.self.launcher);
  }
}

// Refuses what would be measured in vain.
void CommCommand::check_fit(const std::vector<measure::CommRow>& rows) const {
  if (fit_.path.empty()) {
    return;
  }
  const auto& setting = options_.setting;
  if (!setting.link.empty()) {
    throw UsageError(fmt::format(
        "--fit: behind --link {} times are a model's, not the cluster's; leave "
        "one of the two out",
        setting.link));
  }
  if (setting.dtype != "fp32") {
    throw UsageError(
        fmt::format("--fit: fits are of fp32, not of --dtype {}; leave it out",
                    setting.dtype));
  }
  const bool a_line = std::ranges::any_of(rows, [&](const auto& row) {
    return std::ranges::count(
               rows, row.operation, &measure::CommRow::operation) > 1;
  });
  if (!a_line) {
    throw UsageError(
        "--fit: a line needs two sizes of an operation; see --min, --max and "
        "--factor");
  }
  predict::check_fit_file(fit_.path, choice_.file);
}

/// Prints what the operations would take.
int CommCommand::predict() const {
  if (!fit_.path.empty() || !records_.empty() ||
      !options_.setting.link.empty()) {
    throw UsageError(
        "--predict measures nothing; leave out --fit, --link and --records");
  }
  return predict_comm(
      {.cluster = choice_,
       .ranks = numbers_of(worlds_),
       .operations = operations_of(only_),
       .sizes = sizes_of(
           parse_size("--min", min_), parse_size("--max", max_), factor_),
       .engine = options_.setting.engine,
       .format = format_});
}

int CommCommand::run(const std::vector<std::string>& command_line) {
  if (predict_) {
    return predict();
  }
  const std::vector<int> worlds = numbers_of(worlds_);
  if (worlds.size() > 1) {
    throw UsageError(fmt::format(
        "--ranks {}: one number of ranks is measured at a time; --predict "
        "takes several",
        worlds_));
  }
  ranks_ = worlds.empty() ? 0 : worlds.front();
  fit_.command = "paceline " + shell_command(command_line);
  const bool starts_hosts =
      !choice_.empty() && !launch::is_launched(launch::process_environment());
  const launch::Launch launch =
      launch::detect_launch(starts_hosts ? "" : rendezvous_);
  if (launch.self.launcher != "single") {
    return run_rank(launch);
  }
  // Before a library starts a thread, which would take Ctrl-C for itself.
  const launch::SupervisorSignals signals;
  check(launch);
  return run_local();
}

measure::HostAccess CommCommand::access() const {
  return {.interface = options_.setting.interface,
          .rendezvous = rendezvous_,
          .ssh_command = ssh_command_};
}

// Throws UsageError where the ranks cannot be started.
launch::JobLaunch CommCommand::launch_of_ranks() const {
  launch::JobLaunch job =
      measure::launch_of_ranks(ranks_, cluster_, access(), timeout_);
  measure::serve_by_mpirun(options_.setting.engine, job);
  return job;
}

int CommCommand::run_local() {
  launch::JobLaunch job = launch_of_ranks();
  job.before = [this](launch::KeyValueStore& store) {
    store.set(measure::kCommJobKey, measure::to_text(options_));
  };
  measure::CommResult found;
  job.after = [&found](launch::KeyValueStore& store,
                       const launch::Outcome& /*outcome*/) {
    found = measure::read_findings(store);
  };
  const launch::Outcome outcome = launch::launch_job(job);
  const std::string message =
      outcome.message.empty() ? ""
                              : fmt::format("paceline: {}\n", outcome.message);
  if (outcome.exit_code == 2) {
    fmt::print(stderr, "{}", message);
    return 2;
  }
  if (outcome.stop_signal != 0) {
    results_->show(
        found,
        message.empty() ? measure::ended_by(outcome.stop_signal) : message);
    return 128 + outcome.stop_signal;
  }
  const int code = results_->show(found, message);
  return outcome.exit_code != 0 ? outcome.exit_code : code;
}

int CommCommand::run_rank(const launch::Launch& launch) {
  const launch::StopSignals stop;
  std::shared_ptr<measure::CommFindings> findings;
  std::once_flag shown;
  int code = 0;
  // The parent that started the ranks prints the findings; without one rank 0
  // does, once, as far as they go.
  const auto show = [&](const std::string& ended) {
    std::call_once(shown, [&] {
      if (results_ && findings != nullptr) {
        code = results_->show(findings->result(), ended);
      }
    });
  };
  return engines::run_rank(
      launch,
      to_milliseconds(timeout_),
      [&](const engines::RankContext& context) {
        check(launch);
        findings = std::make_shared<measure::CommFindings>(context.world.store);
        const int stopped = measure::run_comm_session(
            context.world, context.heartbeat, options_, *findings);
        show(stopped == 0 ? "" : measure::ended_by(stop.signal()));
        return stopped == 0 ? code : stopped;
      },
      [&](const launch::FailureNotice&) {
        if (findings != nullptr && !findings->result().records.empty()) {
          show("paceline: the run failed: ");
        }
      });
}

}  // namespace paceline::cli
