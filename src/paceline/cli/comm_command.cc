// SPDX-License-Identifier: Apache-2.0
#include "paceline/cli/comm_command.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include "paceline/base/error.h"
#include "paceline/base/shell.h"
#include "paceline/base/text.h"
#include "paceline/case/check.h"
#include "paceline/cli/argument_checks.h"
#include "paceline/cli/catalogue.h"
#include "paceline/cli/comm_predict.h"
#include "paceline/cli/job_flags.h"
#include "paceline/cluster/cluster_units.h"
#include "paceline/cluster/link_spec.h"
#include "paceline/engines/engine_table.h"
#include "paceline/front/job_hosts.h"
#include "paceline/front/launched_rank.h"
#include "paceline/front/run_job.h"
#include "paceline/launch/detect_launch.h"
#include "paceline/launch/signals.h"
#include "paceline/plan/wire_bytes.h"
#include "paceline/predict/comm_fit.h"
#include "paceline/rank/comm_case.h"
#include "paceline/report/command_output.h"
#include "paceline/report/formats.h"

namespace paceline::cli {
namespace {

constexpr std::int64_t kLargest = std::int64_t{1} << 34;

// Parses a size in bytes: "4096", "4KiB", "256MB".
std::int64_t parse_size(const std::string& flag, const std::string& text) {
  const bool plain = text.find_first_not_of("0123456789") == std::string::npos;
  const std::int64_t bytes = cluster::parse_bytes(flag, plain && !text.empty() ? text + "B" : text);
  if (bytes < 1 || bytes > kLargest) {
    throw UsageError(fmt::format("{} {}: must be 1 B to 16 GiB", flag, text));
  }
  return bytes;
}

std::vector<std::int64_t> sizes_of(std::int64_t least, std::int64_t most, double factor) {
  if (least > most) {
    throw UsageError(fmt::format("--min {} is above --max {}", least, most));
  }
  if (!(factor > 1) || factor > 1e6) {
    throw UsageError(fmt::format("--factor {}: must be above 1, at most 1000000", factor));
  }
  std::vector<std::int64_t> sizes;
  for (auto size = static_cast<double>(least); std::llround(size) <= most; size *= factor) {
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

/// Parses "8,64" into numbers; an empty text has none. A part that is no number becomes 0.
std::vector<int> numbers_of(const std::string& text) {
  std::vector<int> numbers;
  for (const std::string& number : split_at(text, ',')) {
    if (!text.empty()) {
      numbers.push_back(number_from<int>(number).value_or(0));
    }
  }
  return numbers;
}

void check_link(cases::OperationSweep& sweep) {
  std::erase(sweep.link, ' ');
  if (sweep.link.empty()) {
    return;
  }
  cluster::parse_link("--link", sweep.link);
  if (sweep.device != "cpu") {
    throw UsageError(
        fmt::format("--link: '{}' holds operations on the CPU alone, and the device is {}",
                    sweep.link, sweep.device));
  }
}

// Resolves "auto" as engine and device. Throws UsageError if this machine lacks either of them.
void check_engine(const cases::MachineFacts& machine, cases::OperationSweep& sweep) {
  sweep.device = cases::resolve_device(sweep.device, machine);
  sweep.engine = cases::resolve_engine(sweep.engine, sweep.device, machine);
  if (std::ranges::find(machine.engines, sweep.engine) == machine.engines.end()) {
    throw UsageError("--engine: " + cases::not_built_in(sweep.engine, machine));
  }
  if (sweep.device == "cuda" && machine.cuda_devices == 0) {
    throw UsageError("--device: 'cuda', but PyTorch sees no GPU here");
  }
  const auto& engine = engines::find_engine(sweep.engine);
  if (!engine.moves(sweep.device)) {
    throw UsageError(fmt::format("--engine: '{}' moves bytes between {} alone", sweep.engine,
                                 engine.moves_cpu ? "CPUs" : "GPUs"));
  }
}

// Throws UsageError if the measurements could not be used for the fit that --fit asks for.
void check_fit(const cases::OperationSweep& sweep) {
  if (sweep.fit.empty()) {
    return;
  }
  if (!sweep.link.empty()) {
    throw UsageError(fmt::format(
        "--fit: behind --link {} times are a model's, not the cluster's; leave one of the two out",
        sweep.link));
  }
  if (sweep.dtype != "fp32") {
    throw UsageError(
        fmt::format("--fit: fits are of fp32, not of --dtype {}; leave it out", sweep.dtype));
  }
  const auto rows = rank::comm_rows(sweep.operations, sweep.sizes, sweep.dtype, sweep.ranks);
  const bool a_line = std::ranges::any_of(rows, [&](const auto& row) {
    return std::ranges::count(rows, row.operation, &rank::CommRow::operation) > 1;
  });
  if (!a_line) {
    throw UsageError(
        "--fit: a line needs two sizes of an operation; see --min, --max and --factor");
  }
  predict::check_replaceable("--fit", sweep.fit, "paceline comm");
}

}  // namespace

CommCommand::CommCommand(CLI::App& app) {
  settings_.name = "comm";
  add_sizes(app);
  add_ranks(app);
  app.add_option("--engine", sweep_.engine, "what moves the bytes")->type_name("NAME");
  app.add_option("--device", sweep_.device, "where the bytes lie")
      ->check(one_of("device", {"auto", "cpu", "cuda"}))
      ->type_name("NAME");
  app.add_option("--dtype", sweep_.dtype, "of the elements [fp32]")
      ->check(one_of("dtype", rank::comm_dtypes()))
      ->type_name("TYPE");
  app.add_option("--link", sweep_.link,
                 "hold every operation until such a link would have delivered it")
      ->type_name("RATE,LATENCY");
  app.add_option("--interface", settings_.interface, "of the network")
      ->take_last()
      ->type_name("NAME");
  app.add_option("--rendezvous", settings_.rendezvous, "HOST:PORT or file:PATH")
      ->type_name("WHERE");
  app.add_option("--timeout", settings_.timeout, "a rank silent for so long has failed")
      ->check(number_in(1, 86400))
      ->type_name("SECONDS");
  app.add_option("--records", settings_.records,
                 "JSON Lines file that is appended to [results/comm-<utc>.jsonl]")
      ->type_name("FILE");
  add_format_flag(app, settings_.format, report::names_of(report::output_formats()));
  add_cluster_flags(app, choice_);
  app.add_option("--ssh-command", settings_.ssh_command, "as in paceline run")->type_name("TEXT");
  app.add_option("--fit", sweep_.fit,
                 "write alpha-beta models of the operations to this file, which cluster files name "
                 "under `collectives`")
      ->type_name("FILE");
}

void CommCommand::add_sizes(CLI::App& app) {
  app.add_option("--only", only_, "operations, separated by commas")
      ->delimiter(',')
      ->type_name("NAME,NAME")
      ->check(one_of("operation", known_operations()));
  app.add_option("--min", min_, "smallest size [4B]")->type_name("SIZE");
  app.add_option("--max", max_, "largest size [256MiB]")->type_name("SIZE");
  app.add_option("--factor", factor_, "from a size to the next one [4]")->type_name("X");
  app.add_option("--iterations", sweep_.iterations, "measured ones [20]")
      ->check(whole_number_in(1, 1'000'000))
      ->type_name("N");
  app.add_option("--warmup", sweep_.warmup, "discarded iterations [3]")
      ->check(whole_number_in(0, 1'000'000))
      ->type_name("N");
}

void CommCommand::add_ranks(CLI::App& app) {
  app.add_option("--ranks", worlds_,
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
  app.add_flag("--predict", predict_,
               "measure nothing: what the operations would take on --cluster");
}

std::vector<std::int64_t> CommCommand::sizes() const {
  return sizes_of(parse_size("--min", min_), parse_size("--max", max_), factor_);
}

/// Prints the predicted times of the operations.
int CommCommand::predict() const {
  if (!sweep_.fit.empty() || !settings_.records.empty() || !sweep_.link.empty()) {
    throw UsageError("--predict measures nothing; leave out --fit, --link and --records");
  }
  return predict_comm({.cluster = choice_,
                       .ranks = numbers_of(worlds_),
                       .operations = operations_of(only_),
                       .sizes = sizes(),
                       .engine = sweep_.engine,
                       .format = settings_.format});
}

/// The job to measure. Its number of ranks is 0 if no flag gives it.
cases::JobSpec CommCommand::job(const std::vector<std::string>& command_line) const {
  const std::vector<int> worlds = numbers_of(worlds_);
  if (worlds.size() > 1) {
    throw UsageError(fmt::format(
        "--ranks {}: one number of ranks is measured at a time; --predict takes several", worlds_));
  }
  cases::OperationSweep sweep = sweep_;
  sweep.ranks = worlds.empty() ? 0 : worlds.front();
  sweep.command = "paceline " + shell_command(command_line);
  check_engine(machine_here({}), sweep);
  sweep.operations = operations_of(only_);
  sweep.sizes = sizes();
  check_link(sweep);
  cases::JobSpec job;
  job.operations = std::move(sweep);
  job.settings = settings_;
  job.progress = isatty(STDERR_FILENO) == 1;
  return job;
}

int CommCommand::run(const std::vector<std::string>& command_line) {
  if (predict_) {
    return predict();
  }
  const bool starts_hosts = !choice_.empty() && !launch::is_launched(launch::process_environment());
  const launch::Launch launch = launch::detect_launch(starts_hosts ? "" : settings_.rendezvous);
  if (launch.self.launcher == "single") {
    // The signals are blocked before a library starts a thread, which would otherwise take Ctrl-C.
    const launch::SupervisorSignals signals;
    return run_here(job(command_line));
  }
  return front::run_launched_rank(launch, settings_.timeout_ms(),
                                  [&](const std::vector<std::string>& host_of_rank, int /*cores*/) {
                                    cases::JobSpec launched = job(command_line);
                                    if (launch.self.rank == 0) {
                                      front::reject_hosts(choice_, launch.self.launcher);
                                      launched.operations->ranks =
                                          static_cast<int>(host_of_rank.size());
                                      check_fit(*launched.operations);
                                    }
                                    return launched;
                                  });
}

int CommCommand::run_here(cases::JobSpec job) const {
  const int cores = cases::usable_cores();
  std::optional<cluster::Cluster> cluster;
  if (!choice_.empty()) {
    cluster = cluster::read_cluster(choice_);
  }
  cases::OperationSweep& sweep = *job.operations;
  if (sweep.ranks == 0) {
    sweep.ranks = std::max(2, cluster ? cluster->slots() : cores);
  }
  if (cluster) {
    front::launch_of_job(job, cluster);
  } else {
    cases::check_ranks_here("--ranks", sweep.ranks, cores);
  }
  check_fit(sweep);
  return front::run_job(std::move(job), cluster);
}

}  // namespace paceline::cli
