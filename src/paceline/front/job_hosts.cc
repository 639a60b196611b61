// SPDX-License-Identifier: Apache-2.0
#include "paceline/front/job_hosts.h"

#include <algorithm>
#include <sstream>

#include <fmt/format.h>
#include <unistd.h>

#include "paceline/base/error.h"
#include "paceline/base/host_text.h"
#include "paceline/base/text.h"
#include "paceline/case/check.h"
#include "paceline/case/job_spec.h"
#include "paceline/case/machine.h"
#include "paceline/engines/c10d_store.h"
#include "paceline/engines/engine_table.h"
#include "paceline/launch/detect_launch.h"
#include "paceline/launch/host_launch.h"
#include "paceline/launch/network_interface.h"
#include "paceline/rank/rank.h"
#include "paceline/records/environment.h"

namespace paceline::front {
namespace {

constexpr const char* kSshCommand = "ssh -x -T -o BatchMode=yes";

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) {
    words.push_back(std::move(word));
  }
  return words;
}

void set_rendezvous(const std::string& rendezvous, launch::JobLaunch& launch) {
  const auto given = rendezvous.starts_with("file:") ? std::nullopt : host_port_from(rendezvous);
  if (!given) {
    throw UsageError(fmt::format(
        "--rendezvous {}: with -H give HOST:PORT, an address of this machine and a free port",
        rendezvous));
  }
  launch.address = given->host;
  launch.port = given->port;
}

std::string own_address(const std::string& interface) {
  if (!interface.empty()) {
    launch::require_interface(interface);
  }
  const std::string address =
      launch::interface_address(interface.empty() ? launch::outward_interface() : interface);
  if (address.empty()) {
    throw UsageError(
        "no network interface of this machine has an address for the other hosts; give "
        "--rendezvous HOST:PORT or --interface NAME");
  }
  return address;
}

void check_hosts(const std::vector<launch::HostRanks>& hosts) {
  if (hosts.front().remote) {
    throw UsageError(
        fmt::format("the first host is '{}', but this machine is '{}': rank 0 writes the records "
                    "here, so name this machine first, or start on '{}'",
                    hosts.front().host, launch::host_name(), hosts.front().host));
  }
  const auto again = std::find_if(hosts.begin() + 1, hosts.end(),
                                  [](const launch::HostRanks& host) { return !host.remote; });
  if (again != hosts.end()) {
    throw UsageError(
        fmt::format("hosts '{}' and '{}' are both this machine", hosts.front().host, again->host));
  }
}

/// Throws if a rendezvous is given: the launcher itself chooses the port for ranks on one host.
void reject_rendezvous(int world, const std::string& rendezvous) {
  if (!rendezvous.empty()) {
    throw UsageError(
        fmt::format("--rendezvous {}: is where ranks of several hosts meet, and {} on "
                    "this host; leave it out",
                    rendezvous, world == 1 ? "the only one is" : fmt::format("all {} are", world)));
  }
}

// Returns the network interface of a host: the one that the user named, else the cluster file's.
const std::string& interface_of(const cluster::ClusterHost& host, const std::string& named) {
  return named.empty() ? host.interface : named;
}

void assign_ranks(const cluster::Cluster& cluster, int world, const cases::Settings& settings,
                  launch::JobLaunch& launch) {
  const auto counts = cluster::ranks_per_host(cluster, world);
  launch.hosts.clear();
  for (std::size_t i = 0; i < counts.size(); ++i) {
    launch.hosts.push_back({.host = cluster.hosts[i].name,
                            .ranks = static_cast<int>(counts[i]),
                            .remote = !launch::is_this_host(cluster.hosts[i].name),
                            .argv = {}});
  }
  check_hosts(launch.hosts);
  const launch::HostRanks& here = launch.hosts.front();
  cases::check_ranks_here(fmt::format("host '{}'", here.host), here.ranks, cases::usable_cores());
  if (launch.hosts.size() == 1) {
    reject_rendezvous(world, settings.rendezvous);
    return;
  }
  if (launch.hosts.front().host == "localhost") {
    launch.hosts.front().host = launch::host_name();
  }
  if (settings.rendezvous.empty()) {
    launch.address = own_address(interface_of(cluster.hosts.front(), settings.interface));
  } else {
    set_rendezvous(settings.rendezvous, launch);
  }
  launch.ssh = words_of(settings.ssh_command.empty() ? kSshCommand : settings.ssh_command);
  if (launch.ssh.empty()) {
    throw UsageError("--ssh-command: is blank; it names a program");
  }
  launch.variables = records::allowed_variables(environ);
}

// Lets mpirun serve the ranks of `launch` if the engine needs it.
void start_ranks_by_mpirun(const std::string& engine, launch::JobLaunch& launch) {
  const auto mpirun = engines::find_engine(engine).mpirun;
  if (mpirun.empty()) {
    return;
  }
  if (launch.hosts.size() > 1) {
    throw UsageError(
        fmt::format("engine {}: paceline starts its ranks on this machine alone, not on "
                    "{} hosts; start the job by mpirun or srun (see --print-launch)",
                    engine, launch.hosts.size()));
  }
  launch.mpirun = mpirun;
}

}  // namespace

launch::JobLaunch launch_of_job(const cases::JobSpec& job,
                                const std::optional<cluster::Cluster>& cluster) {
  const cases::Settings& settings = job.settings;
  if (!settings.interface.empty()) {
    launch::require_interface(settings.interface);
  }
  launch::JobLaunch launch;
  launch.serve_store = engines::serve_key_value_store;
  launch.supervise.heartbeat_timeout = settings.timeout_ms();
  if (cluster) {
    assign_ranks(*cluster, cases::ranks_of(job), settings, launch);
  } else {
    launch.hosts = {{.host = launch::host_name(), .ranks = cases::ranks_of(job), .argv = {}}};
  }
  for (std::size_t i = 0; i < launch.hosts.size(); ++i) {
    launch.hosts[i].argv = rank::rank_command(
        settings.timeout,
        cluster ? interface_of(cluster->hosts[i], settings.interface) : settings.interface);
  }
  for (const std::string& engine : cases::engines_of(job)) {
    start_ranks_by_mpirun(engine, launch);
  }
  return launch;
}

std::string interface_here(const cluster::Cluster& cluster, const std::string& named) {
  for (const cluster::ClusterHost& host : cluster.hosts) {
    if (host.name != "localhost" && launch::is_this_host(host.name)) {
      return interface_of(host, named);
    }
  }
  return named;
}

void reject_hosts(const cluster::ClusterChoice& choice, const std::string& launcher) {
  if (choice.has_hosts()) {
    throw UsageError(fmt::format(
        "{}: {} has started the ranks already; leave it out, or start one paceline by hand",
        choice.hosts.empty() ? "--hostfile" : "--hosts", launcher));
  }
}

}  // namespace paceline::front
