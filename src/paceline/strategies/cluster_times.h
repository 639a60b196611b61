// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "paceline/cluster/cluster.h"
#include "paceline/plan/alpha_beta.h"
#include "paceline/strategies/plan_words.h"
#include "paceline/strategies/strategy.h"

namespace paceline::strategies {

/// What a job moves its bytes by, and where its ranks are.
struct TimesAsked {
  std::string engine;  // gloo, nccl
  std::string device;  // cpu, cuda
  Rank world = 2;
  cluster::LinkScope scope = cluster::LinkScope::kDevices;  // kHosts: ranks on several hosts
  std::vector<int> ranks_per_host{};                        // in rank order; empty: any
};

/// What a cluster file knows of such a job's communication.
struct ClusterTimes {
  AlphaBeta model;      // of the operations that have a fit
  std::string missing;  // why there is none, for people; empty: there is one
};

/// The fits of the link between the job's ranks that were measured with its engine, on its kind of
/// device, among as many ranks and with as many on each host.  A fit that does not say its engine,
/// device or hosts holds for any, where no other does.  `file` is what
/// the origin and the reason name.
ClusterTimes times_of(const cluster::Cluster& cluster, const TimesAsked& asked,
                      const std::string& file);

/// The times of times_of() for a job whose planner may decide by times:
/// `missing` says, too, which operation the planner asks for and the fits do
/// not have.
ClusterTimes times_for(const StrategySpec& spec, const cluster::Cluster& cluster,
                       const TimesAsked& asked, const std::string& file);

}  // namespace paceline::strategies
