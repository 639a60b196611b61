// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "paceline/cluster/cluster_choice.h"
#include "paceline/engines/local_launch.h"
#include "paceline/experiment/settings.h"

namespace paceline::cli {

/// What `run` and `comm` are told of how to reach hosts.
struct Reach {
  std::string interface {};   // --interface, of every host
  std::string rendezvous{};   // --rendezvous HOST:PORT; HOST is this machine
  std::string ssh_command{};  // empty: kSshCommand
};

Reach reach_of(const experiment::Settings& settings);

inline constexpr const char* kSshCommand = "ssh -x -T -o BatchMode=yes";

/// Puts the first `world` slots of the cluster's hosts into `launch.hosts`,
/// with where and how they are reached.  Their argv and order are the caller's.
/// Throws UsageError where the slots do not suffice, where the first host is
/// not this machine (rank 0 writes the records here), where a later one is,
/// where this host has more ranks than its cores allow, where one host is told
/// a rendezvous, and where nothing tells other hosts this machine's address.
void place_ranks(const cluster::Cluster& cluster,
                 int world,
                 const Reach& reach,
                 engines::LocalLaunch& launch);

/// The interface of a host of the cluster: the flag's, else the file's.
std::string interface_of(const cluster::ClusterHost& host, const Reach& reach);

/// The same for this machine, as ranks that another launcher started ask.
std::string interface_here(const cluster::Cluster& cluster, const Reach& reach);

/// Throws UsageError where hosts are named to ranks that were already started.
void refuse_hosts(const cluster::ClusterChoice& choice,
                  const std::string& launcher);

}  // namespace paceline::cli
