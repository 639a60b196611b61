// SPDX-License-Identifier: Apache-2.0
#include "paceline/cli/comm_command.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "paceline/base/error.h"
#include "paceline/base/shell.h"
#include "paceline/base/text.h"
#include "paceline/case/check.h"
#include "paceline/case/field.h"
#include "paceline/case/flags.h"
#include "paceline/cli/argument_checks.h"
#include "paceline/cli/catalogue.h"
#include "paceline/cli/comm_predict.h"
#include "paceline/cli/job_flags.h"
#include "paceline/cluster/cluster_units.h"
#include "paceline/front/job_hosts.h"
#include "paceline/front/launched_rank.h"
#include "paceline/front/operation_results.h"
#include "paceline/front/run_job.h"
#include "paceline/launch/detect_launch.h"
#include "paceline/launch/job_launch.h"
#include "paceline/launch/signals.h"
#include "paceline/plan/wire_bytes.h"
#include "paceline/predict/comm_fit.h"
#include "paceline/rank/comm_case.h"
#include "paceline/report/command_output.h"

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

std::vector<std::int64_t> sweep_sizes(std::int64_t least, std::int64_t most, double factor) {
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

// Sets the number of ranks to that of the ranks that a launcher has started. Throws UsageError if
// --ranks asks for another number.
void take_started(std::size_t started, cases::OperationSweep& sweep) {
  const auto ranks = static_cast<int>(started);
  if (sweep.ranks != 0 && sweep.ranks != ranks) {
    throw UsageError(fmt::format("--ranks: '{}', but {} were started", sweep.ranks, ranks));
  }
  sweep.ranks = ranks;
}

}  // namespace

CommCommand::CommCommand(CLI::App& app) {
  settings_.name = "comm";
  configuration_.engine = configuration_.device = "auto";
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
  app.add_option("--ranks", worlds_,
                 "processes to start on this machine [one per core, at least 2]; with --predict "
                 "one number or several: 8,64,512")
      ->delimiter(',')
      ->check(whole_number_in(2, 1 << 20))
      ->type_name("N")
      ->allow_extra_args(false);
  app.add_flag("--predict", predict_,
               "measure nothing: what the operations would take on --cluster");
  app.add_option("--engine", configuration_.engine, "what moves the bytes [auto]")
      ->type_name("NAME");
  app.add_option("--dtype", sweep_.dtype, "of the elements [fp32]")
      ->check(one_of("dtype", rank::comm_dtypes()))
      ->type_name("TYPE");
  cases::add_key_flags(app, {"device", "link"}, configuration_);
  cases::add_key_flags(app, {"interface", "rendezvous", "timeout", "records", "ssh_command"},
                       settings_);
  add_format_flag(app, settings_.format, report::output_format_names());
  add_cluster_flags(app, choice_);
  app.add_option("--fit", sweep_.fit,
                 "write alpha-beta models of the operations to this file, which cluster files name "
                 "under `collectives`")
      ->type_name("FILE");
  for (const char* name :
       {"--iterations", "--warmup", "--dtype", "--device", "--link", "--interface", "--rendezvous",
        "--timeout", "--records", "--ssh-command", "--fit"}) {
    measuring_.push_back(app.get_option(name));
  }
}

std::vector<std::int64_t> CommCommand::sizes() const {
  return sweep_sizes(parse_size("--min", min_), parse_size("--max", max_), factor_);
}

/// Prints the predicted times of the operations and measures nothing.
int CommCommand::predict() const {
  for (const CLI::Option* option : measuring_) {
    if (option->count() > 0) {
      throw UsageError(fmt::format("--predict measures nothing; leave out {}", option->get_name()));
    }
  }
  return predict_comm({.cluster = choice_,
                       .ranks = worlds_,
                       .operations = operations_of(only_),
                       .names_operations = !only_.empty(),
                       .sizes = sizes(),
                       .engine = configuration_.engine,
                       .format = settings_.format});
}

/// The job to measure. Its number of ranks is 0 if no flag gives it.
cases::JobSpec CommCommand::job(const std::vector<std::string>& command_line) const {
  if (worlds_.size() > 1) {
    throw UsageError(fmt::format(
        "--ranks {}: one number of ranks is measured at a time; --predict takes several",
        fmt::join(worlds_, ",")));
  }
  const cases::MachineFacts machine = machine_here({});
  const cases::Where where = [](std::string_view key) {
    return cases::flag_of(*cases::find_key(key));
  };
  cases::Case c = configuration_;
  c.device = cases::resolve_device(c.device, machine);
  c.engine = cases::resolve_engine(c.engine, c.device, machine);
  cases::check_device(c, machine, where);
  cases::OperationSweep sweep = sweep_;
  sweep.device = c.device;
  sweep.engine = c.engine;
  sweep.link = cases::canonical_link(c, where);
  sweep.ranks = worlds_.empty() ? 0 : worlds_.front();
  sweep.command = "paceline " + shell_command(command_line);
  sweep.operations = operations_of(only_);
  sweep.sizes = sizes();
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
                                      take_started(host_of_rank.size(), *launched.operations);
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
  if (!cluster) {
    cases::check_ranks_here("--ranks", sweep.ranks, cores);
  }
  const launch::JobLaunch launch = front::launch_of_job(job, cluster);
  check_fit(sweep);
  front::OperationResults results(job);
  return front::run_operations(job, launch, results);
}

}  // namespace paceline::cli
