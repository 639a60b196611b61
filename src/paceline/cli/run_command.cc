// SPDX-License-Identifier: Apache-2.0
#include "paceline/cli/run_command.h"

#include <algorithm>
#include <cstdio>
#include <optional>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <net/if.h>
#include <unistd.h>

#include "paceline/base/error.h"
#include "paceline/base/file.h"
#include "paceline/base/text.h"
#include "paceline/cli/catalogue.h"
#include "paceline/cli/dry_run.h"
#include "paceline/cli/first_voice.h"
#include "paceline/cli/job_hosts.h"
#include "paceline/cli/joined.h"
#include "paceline/cli/local.h"
#include "paceline/cli/print_launch.h"
#include "paceline/experiment/experiment.h"
#include "paceline/experiment/order.h"
#include "paceline/launch/place.h"
#include "paceline/launch/supervise.h"
#include "paceline/report/formats.h"

namespace paceline::cli {
namespace {

/// Ranks on each host as the launcher tells before the world is joined: as
/// many on each as on this one.
std::vector<int> ranks_per_host(const launch::Launch& launch) {
  std::vector<int> hosts;
  if (launch.place.launcher != "single") {
    const int local =
        launch.local_known ? launch.place.local_world : launch.place.world;
    for (int left = launch.place.world; left > 0; left -= local) {
      hosts.push_back(std::min(left, local));
    }
  }
  return hosts;
}

cluster::ClusterChoice choice_of(const experiment::Settings& settings) {
  return {.file = settings.cluster,
          .hosts = settings.hosts,
          .hostfile = settings.hostfile};
}

std::vector<int> slots_of(const cluster::Cluster& cluster) {
  std::vector<int> slots;
  for (const cluster::ClusterHost& host : cluster.hosts) {
    slots.push_back(host.slots);
  }
  return slots;
}

/// Throws UsageError that lists what there is on this host.
void check_interface(const std::string& name) {
  if (name.empty() || if_nametoindex(name.c_str()) != 0) {
    return;
  }
  std::vector<std::string> known;
  struct if_nameindex* const all = if_nameindex();
  for (auto* one = all; one != nullptr && one->if_index != 0; ++one) {
    known.emplace_back(one->if_name);
  }
  if_freenameindex(all);
  throw UsageError("--interface: " + unknown_name("interface", name, known));
}

}  // namespace

RunCommand::RunCommand(CLI::App& app) : flags_(app) {
  app.add_option("--order", order_path_)->group("");
}

int RunCommand::run(const std::vector<std::string>& command_line) const {
  if (!order_path_.empty()) {
    return run_ordered_rank(experiment::order_from(read_text(order_path_)));
  }
  // Of the flags alone, so that a bad one is told first.
  report::find_format(flags_.settings().format);
  const experiment::Draft draft = flags_.draft();
  experiment::Order order;
  order.settings = experiment::settings_of(draft);
  order.progress = isatty(STDERR_FILENO) == 1;
  if (!order.settings.print_launch.empty()) {
    const LaunchText text = launch_text(draft, command_line);
    fmt::print("{}", text.line);
    fmt::print(stderr, "{}", text.note);
    return 0;
  }
  const cluster::ClusterChoice choice = choice_of(order.settings);
  // With hosts of ours, it says where they reach us.
  const bool starts_hosts =
      !choice.empty() && !launch::is_launched(launch::process_environment());
  const launch::Launch launch =
      launch::detect_launch(starts_hosts ? "" : order.settings.rendezvous);
  const bool alone = launch.place.launcher == "single";
  // Before a library starts a thread, which would take Ctrl-C for itself.
  std::optional<launch::SupervisorSignals> signals;
  if (alone && !order.settings.dry_run) {
    signals.emplace();
  }
  const auto expanded = [&draft](std::vector<int> hosts, int cores = 0) {
    experiment::Machine machine = machine_here(std::move(hosts));
    machine.cores = cores > 0 ? cores : machine.cores;
    return experiment::expand(draft, machine);
  };
  std::optional<cluster::Cluster> cluster;
  try {
    if (!choice.empty()) {
      cluster = cluster::read_cluster(choice);
    }
    if (cluster && !alone) {
      refuse_hosts(choice, launch.place.launcher);
      order.settings.interface =
          interface_here(*cluster, {.interface = order.settings.interface});
    }
    order.experiment = expanded(cluster && alone ? slots_of(*cluster)
                                                 : ranks_per_host(launch));
    if (cluster && alone) {
      engines::LocalLaunch nothing;  // to refuse before anything is written
      place_ranks(*cluster,
                  experiment::largest_world(order.experiment),
                  reach_of(order.settings),
                  nothing);
    }
    report::find_format(order.settings.format);
    check_interface(order.settings.interface);
  } catch (const UsageError&) {
    if (launch.place.local_rank > 0) {
      return leave_it_to_the_first_rank();
    }
    throw;
  }
  if (order.settings.dry_run) {
    fmt::print("{}",
               dry_run_text(order.experiment, cluster, order.settings.cluster));
    return 0;
  }
  return alone ? run_local(std::move(order), cluster, command_line)
               : run_joined(order, launch, expanded);
}

}  // namespace paceline::cli
