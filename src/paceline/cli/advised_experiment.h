// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "paceline/cluster/cluster_choice.h"
#include "paceline/predict/advise.h"

namespace paceline::cli {

/// What `advise --write FILE` is asked for.
struct AdvisedExperiment {
  std::string path{};                // empty: nothing is written
  int strategies = 3;                // the best so many that run
  std::string model{};               // as the command line names it
  cluster::ClusterChoice cluster{};  // likewise
};

/// Throws UsageError where the file cannot be written, and where neither the cluster is here nor
/// its ranks have room on this machine.
void check_experiment(const AdvisedExperiment& wanted, const predict::AdviseRequest& request);

/// Writes the best strategies of the table that run as an experiment for
/// `paceline run FILE`; returns what was written, in one line.
///
/// Where the cluster's first host is this machine, the experiment runs on the cluster.  Elsewhere
/// all ranks run on this machine: each is behind an emulated link with the rate and latency of the
/// slowest link that ranks cross on the cluster, and sleeps through the layer times of the
/// prediction, which are written beside FILE as a profile.  The experiment's `stretch` slows links
/// and compute down to about what Gloo reaches here.  Throws UsageError where no strategy of the
/// table runs.
std::string write_experiment(const AdvisedExperiment& wanted, const predict::AdviceTable& table,
                             const predict::AdviseRequest& request);

}  // namespace paceline::cli
