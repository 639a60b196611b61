// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "paceline/case/settings.h"
#include "paceline/cluster/cluster_choice.h"
#include "paceline/launch/job_launch.h"

namespace paceline::front {

/// How `run` and `comm` reach the hosts.
struct HostAccess {
  std::string interface {};   // --interface, for every host
  std::string rendezvous{};   // --rendezvous HOST:PORT; HOST is this machine
  std::string ssh_command{};  // empty: kSshCommand
};

HostAccess access_of(const cases::Settings& settings);

inline constexpr const char* kSshCommand = "ssh -x -T -o BatchMode=yes";

/// Assigns ranks to the first `world` slots of the cluster's hosts, in `launch.hosts`, and sets how
/// the hosts are reached.  The caller sets the hosts' argv.  Throws UsageError if there are too few
/// slots, if the first host is not this machine (rank 0 writes the records here), if a later host
/// is this machine, if this host has more ranks than its cores allow, if a rendezvous is given for
/// a single host, and if no address of this machine is known for the other hosts.
void assign_ranks(const cluster::Cluster& cluster, int world, const HostAccess& access,
                  launch::JobLaunch& launch);

/// Returns the launch of `world` ranks (rank/rank.h) on the cluster's hosts, or on this machine,
/// with a limit of `timeout` seconds between heartbeats.
launch::JobLaunch launch_of_ranks(int world, const std::optional<cluster::Cluster>& cluster,
                                  const HostAccess& access, double timeout);

/// Lets mpirun serve the ranks of `launch` if the engine needs it.  Throws UsageError if the ranks
/// are on several hosts.
void serve_by_mpirun(const std::string& engine, launch::JobLaunch& launch);

/// Returns the network interface of a host of the cluster: the flag's, else the cluster file's.
std::string interface_of(const cluster::ClusterHost& host, const HostAccess& access);

/// Returns the network interface of this machine, for ranks that another launcher started.
std::string interface_here(const cluster::Cluster& cluster, const HostAccess& access);

/// Throws UsageError if hosts are named although `launcher` has already started the ranks.
void reject_hosts(const cluster::ClusterChoice& choice, const std::string& launcher);

}  // namespace paceline::front
