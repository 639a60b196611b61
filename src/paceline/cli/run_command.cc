// SPDX-License-Identifier: Apache-2.0
#include "paceline/cli/run_command.h"

#include <algorithm>
#include <cstdio>
#include <optional>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include "paceline/base/error.h"
#include "paceline/base/exit_status.h"
#include "paceline/base/text.h"
#include "paceline/case/experiment.h"
#include "paceline/case/job_spec.h"
#include "paceline/case/machine.h"
#include "paceline/case/outside.h"
#include "paceline/cli/catalogue.h"
#include "paceline/cli/dry_run.h"
#include "paceline/cli/print_launch.h"
#include "paceline/front/batch_search.h"
#include "paceline/front/job_hosts.h"
#include "paceline/front/launched_rank.h"
#include "paceline/front/narrowing.h"
#include "paceline/front/results.h"
#include "paceline/front/run_job.h"
#include "paceline/front/virtual_time.h"
#include "paceline/launch/detect_launch.h"
#include "paceline/launch/host_launch.h"
#include "paceline/launch/job_launch.h"
#include "paceline/launch/network_interface.h"
#include "paceline/launch/signals.h"
#include "paceline/plan/ranks_per_host.h"
#include "paceline/rank/case_time.h"
#include "paceline/rank/torch_facts.h"
#include "paceline/report/formats.h"
#include "paceline/stats/sequential.h"

namespace paceline::cli {
namespace {

/// Returns the number of ranks on each host, from the launcher's variables, before the ranks have
/// connected. Every host is assumed to have as many ranks as this one.
std::vector<int> ranks_per_host_of(const launch::Launch& launch) {
  const int world = launch.self.world;
  if (launch.self.launcher == "single") {
    return {};
  }
  const int local = launch.has_local_rank ? launch.self.local_world : world;
  const auto most_hosts = static_cast<std::size_t>(world);
  return plan::fill_hosts(world, std::vector<int>(most_hosts, local));
}

cluster::ClusterChoice choice_of(const cases::Settings& settings) {
  return {.file = settings.cluster, .hosts = settings.hosts, .hostfile = settings.hostfile};
}

/// The job's cases on hosts with these numbers of ranks and `cores` cores each. 0 stands for the
/// cores that this process may use.
cases::Experiment expand(const cases::RawSettings& raw, std::vector<int> ranks_per_host,
                         int cores = 0) {
  cases::MachineFacts machine = machine_here(std::move(ranks_per_host));
  machine.cores = cores > 0 ? cores : machine.cores;
  return cases::expand(raw, machine);
}

std::optional<cluster::Cluster> cluster_of(const cluster::ClusterChoice& choice) {
  return choice.empty() ? std::nullopt : std::optional(cluster::read_cluster(choice));
}

/// Resolves the job of a rank that another launcher started.
cases::JobSpec resolve_launched(const cases::RawSettings& raw, cases::JobSpec job,
                                const std::string& launcher, std::vector<int> ranks_per_host,
                                int cores) {
  const cluster::ClusterChoice choice = choice_of(job.settings);
  if (const auto cluster = cluster_of(choice)) {
    front::reject_hosts(choice, launcher);
    job.settings.interface = front::interface_here(*cluster, job.settings.interface);
  }
  if (!job.settings.virtual_time.empty()) {
    throw UsageError(
        fmt::format("virtual_time: '{}', but {} has started the ranks, which train where they are; "
                    "let Paceline start them",
                    job.settings.virtual_time, launcher));
  }
  job.experiment = expand(raw, std::move(ranks_per_host), cores);
  for (const cases::Case& c : job.experiment.cases) {
    if (c.batch_size == cases::kLargestBatch) {
      throw UsageError(
          fmt::format("--batch-size max: {} has started the ranks already, and the search starts "
                      "its own; give the size",
                      launcher));
    }
    if (!c.env.empty() && !cases::runs_external_program(c)) {
      throw UsageError(fmt::format(
          "--env {}: {} has started the ranks already; set it there, or let Paceline start them",
          c.env.begin()->first, launcher));
    }
  }
  if (!job.settings.interface.empty()) {
    launch::require_interface(job.settings.interface);
  }
  return job;
}

/// Returns the note that a dry run prints if this machine is not a host of the cluster: the
/// devices, engines and cores of this machine are assumed for the hosts.
std::string note_on_hosts(const cluster::Cluster& cluster) {
  return fmt::format(
      "note: the first host is '{}', and this machine is '{}': devices, engines and cores are "
      "taken to be as here; start the run on '{}'\n",
      cluster.hosts.front().name, launch::host_name(), cluster.hosts.front().name);
}

/// Returns the number of cores of this machine if it alone, without a GPU, will run the job; by
/// this number the experiment's small section is chosen. Otherwise returns kSmallBelowCores, which
/// never selects the small section.
int local_core_count(const cases::Settings& flags) {
  const bool elsewhere = !choice_of(flags).empty() || !flags.print_launch.empty() ||
                         !flags.virtual_time.empty() ||
                         launch::is_launched(launch::process_environment());
  return elsewhere || rank::cuda_devices() > 0 ? cases::kSmallBelowCores : cases::usable_cores();
}

int dry_run(const cases::RawSettings& raw, cases::JobSpec job, const launch::Launch& launch) {
  if (launch.self.rank > 0) {
    return 0;  // only rank 0 prints
  }
  const auto cluster = cluster_of(choice_of(job.settings));
  const bool alone = launch.self.launcher == "single";
  job.experiment =
      expand(raw, cluster && alone ? cluster->slots_by_host() : ranks_per_host_of(launch));
  if (alone) {
    front::place_virtually(job.settings, job.experiment);
    if (cluster && !launch::is_this_host(cluster->hosts.front().name)) {
      fmt::print(stderr, "{}", note_on_hosts(*cluster));
    } else {
      front::launch_of_job(job, cluster);  // throws if the job cannot be started
    }
  } else {
    front::reject_hosts(choice_of(job.settings), launch.self.launcher);
  }
  fmt::print("{}{}", dry_run_text(job.experiment),
             rank::replay_time_text(job.experiment.cases, job.experiment.runs));
  return job.experiment.rejected.empty() ? 0 : kFailedStatus;
}

// The options of --until, for cases that each run `runs` times before single cases are repeated.
std::optional<front::NarrowingOptions> narrowing_of(const UntilFlags& until, int runs) {
  const auto within = until.within();
  if (!within) {
    return std::nullopt;
  }
  if (until.most_runs() < runs) {
    throw UsageError(fmt::format("--budget {}: each case is run {} times before any is repeated",
                                 until.most_runs(), runs));
  }
  return front::NarrowingOptions{
      .within = *within, .most_runs = until.most_runs(), .time = until.time()};
}

// Starts the ranks, and repeats cases until --until is satisfied.
int run_here(const cases::RawSettings& raw, cases::JobSpec job,
             const cluster::ClusterChoice& choice, const UntilFlags& until) {
  // The signals are blocked before a library starts a thread, which would otherwise take Ctrl-C.
  const launch::SupervisorSignals signals;
  const auto cluster = cluster_of(choice);
  job.experiment = expand(raw, cluster ? cluster->slots_by_host() : std::vector<int>{});
  front::place_virtually(job.settings, job.experiment);
  const launch::JobLaunch launch = front::launch_of_job(job, cluster);
  if (until.within()) {  // fewer runs have no interval
    job.experiment.runs =
        std::max(job.experiment.runs, static_cast<int>(stats::kFewestForSequential));
  }
  const auto narrowing = narrowing_of(until, job.experiment.runs);
  front::resolve_largest_batches(job.experiment, job.settings);
  front::Results results(job);
  return front::run_job(std::move(job), launch, results, narrowing);
}

}  // namespace

RunCommand::RunCommand(CLI::App& app)
    : flags_(app),
      until_(app,
             "repeat single cases, the widest first, until each interval lies within this share of "
             "its figure",
             "a case") {}

int RunCommand::run(const std::vector<std::string>& command_line) const {
  until_.check();
  const int cores_here = local_core_count(flags_.settings());
  const cases::RawSettings raw = flags_.raw_settings(cores_here);
  if (raw.by_size) {
    fmt::print(stderr, "{} here: running the section {} of {}; --section {} runs the whole\n",
               counted(cores_here, "core"), raw.section, raw.source, cases::kWholeFile);
  }
  cases::JobSpec job;
  job.settings = cases::settings_of(raw);
  job.progress = isatty(STDERR_FILENO) == 1;
  if (!job.settings.print_launch.empty()) {
    const launch::LaunchLine text = launch_text(raw, command_line);
    fmt::print("{}", text.command);
    fmt::print(stderr, "{}", text.note);
    return 0;
  }
  report::find_format(job.settings.format);
  const cluster::ClusterChoice choice = choice_of(job.settings);
  // If this process starts other hosts, --rendezvous is the address at which they reach this
  // machine, not a sign of another launcher.
  const bool starts_hosts = !choice.empty() && !launch::is_launched(launch::process_environment());
  const launch::Launch launch = launch::detect_launch(starts_hosts ? "" : job.settings.rendezvous);
  if (job.settings.dry_run) {
    return dry_run(raw, std::move(job), launch);
  }
  if (launch.self.launcher != "single") {
    if (until_.within()) {
      throw UsageError(
          fmt::format("--until: {} has started the ranks already, and further runs start their "
                      "own; let Paceline start them",
                      launch.self.launcher));
    }
    return front::run_launched_rank(launch, job.settings.timeout_ms(),
                                    [&](const std::vector<std::string>& host_of_rank, int cores) {
                                      return resolve_launched(raw, job, launch.self.launcher,
                                                              front::count_by_host(host_of_rank),
                                                              cores);
                                    });
  }
  return run_here(raw, std::move(job), choice, until_);
}

}  // namespace paceline::cli
