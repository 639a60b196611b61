// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "paceline/case/job_spec.h"
#include "paceline/cluster/cluster_choice.h"
#include "paceline/launch/job_launch.h"

namespace paceline::front {

/// Returns the launch of a job's ranks (rank/rank.h) on this machine, or on the first slots of the
/// cluster's hosts, with what the engines of its cases need.  The settings `interface`,
/// `rendezvous` and `ssh_command` say how to reach the hosts.  Throws UsageError if this machine
/// has no such interface, if there are too few slots, if the first host is not this machine (rank 0
/// writes the records here), if a later host is this machine, if this host has more ranks than its
/// cores allow, if a rendezvous is given for a single host, if no address of this machine is known
/// for the other hosts, and if an engine does not run on several hosts.
launch::JobLaunch launch_of_job(const cases::JobSpec& job,
                                const std::optional<cluster::Cluster>& cluster);

/// Returns the network interface of this machine, for ranks that another launcher started: `named`
/// if it is not empty, else that of the cluster file.
std::string interface_here(const cluster::Cluster& cluster, const std::string& named);

/// Throws UsageError if hosts are named although `launcher` has already started the ranks.
void reject_hosts(const cluster::ClusterChoice& choice, const std::string& launcher);

}  // namespace paceline::front
