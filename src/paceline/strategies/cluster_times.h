// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "paceline/cluster/cluster.h"
#include "paceline/plan/alpha_beta.h"
#include "paceline/strategies/plan_words.h"
#include "paceline/strategies/strategy.h"

namespace paceline::strategies {

/// The job for which communication times are looked up: its engine, device and placement.
struct TimesRequest {
  std::string engine;  // an engine's name: gloo, nccl
  std::string device;  // a kind of device: cpu or cuda
  Rank world = 2;
  cluster::LinkScope scope = cluster::LinkScope::kDevices;  // kHosts: ranks are on several hosts
  std::vector<int> ranks_per_host{};                        // in rank order; empty: any placement
};

/// The communication times that a cluster file has for a job.
struct ClusterTimes {
  AlphaBeta model;      // operations without a fit have no time
  std::string missing;  // message that says why the file has no times; empty: it has some
};

/// Returns the fits of the link that joins the job's ranks.  Only fits for the job's number of
/// ranks are used.  A fit may also state an engine, a kind of device and the ranks per host, which
/// must then be the job's; of several such fits, the one that states most is used.  `file` is the
/// file's name for the origin and for messages.
ClusterTimes times_of(const cluster::Cluster& cluster, const TimesRequest& asked,
                      const std::string& file);

/// Like times_of(), for a job whose planner may decide by times: `missing` also names an operation
/// that the planner needs and that has no fit.
ClusterTimes times_for(const StrategySpec& spec, const cluster::Cluster& cluster,
                       const TimesRequest& asked, const std::string& file);

}  // namespace paceline::strategies
