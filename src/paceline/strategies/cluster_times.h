// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "paceline/cluster/cluster.h"
#include "paceline/plan/alpha_beta.h"
#include "paceline/strategies/plan_words.h"
#include "paceline/strategies/strategy.h"

namespace paceline::strategies {

/// The engine, device and placement of a job whose communication times are wanted.
struct TimesAsked {
  std::string engine;  // an engine's name: gloo, nccl
  std::string device;  // a kind of device: cpu or cuda
  Rank world = 2;
  cluster::LinkScope scope = cluster::LinkScope::kDevices;  // kHosts: ranks are on several hosts
  std::vector<int> ranks_per_host{};                        // in rank order; empty: any placement
};

/// The communication times that a cluster file has for such a job.
struct ClusterTimes {
  AlphaBeta model;      // only operations with a fit have a line
  std::string missing;  // why the file has no times, as a message; empty: it has some
};

/// Returns the fits of the link that joins the job's ranks.  A fit applies if it was measured with
/// the job's engine, kind of device, number of ranks and ranks per host.  A fit that leaves one of
/// these out applies to any, but a fit that names more of them is preferred.  `file` is the file's
/// name for the origin and for messages.
ClusterTimes times_of(const cluster::Cluster& cluster, const TimesAsked& asked,
                      const std::string& file);

/// As times_of(), for a job whose planner may decide by times: `missing` also names an operation
/// whose time the planner needs and which has no fit.
ClusterTimes times_for(const StrategySpec& spec, const cluster::Cluster& cluster,
                       const TimesAsked& asked, const std::string& file);

}  // namespace paceline::strategies
