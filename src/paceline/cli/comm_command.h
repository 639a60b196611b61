// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "paceline/cli/comm_results.h"
#include "paceline/cluster/cluster_choice.h"
#include "paceline/launch/detect_launch.h"
#include "paceline/launch/job_launch.h"
#include "paceline/measure/comm_case.h"
#include "paceline/measure/comm_session.h"
#include "paceline/measure/job_hosts.h"

namespace CLI {
class App;
}

namespace paceline::cli {

/// `paceline comm`: what an engine's operations cost by size.  Starts its ranks
/// here, or joins the world of whoever started it, as `paceline run` does.
class CommCommand {
 public:
  /// Adds the flags to the subcommand `app`.
  explicit CommCommand(CLI::App& app);

  /// After the parsing; `command_line` is the program's, without its name.
  /// Returns the exit code: 3 where an engine moved wrong values.
  int run(const std::vector<std::string>& command_line);

 private:
  void check(const launch::Launch& launch);
  void check_cluster(const launch::Launch& launch);
  void check_fit(const std::vector<measure::CommRow>& rows) const;
  measure::HostAccess access() const;
  launch::JobLaunch launch_of_ranks() const;
  void add_ranks(CLI::App& app);
  int predict() const;
  int run_local();
  int run_rank(const launch::Launch& launch);

  std::string min_ = "4B", max_ = "256MiB";
  double factor_ = 4;
  int ranks_ = 0;       // 0: one per core, at least 2
  std::string worlds_;  // --ranks
  bool predict_ = false;
  std::vector<std::string> only_;
  std::string format_ = "table", records_, rendezvous_, ssh_command_;
  cluster::ClusterChoice choice_;
  std::optional<cluster::Cluster> cluster_;  // whose hosts we start
  predict::FitFile fit_;
  double timeout_ = 60;
  measure::CommSessionOptions options_;
  std::optional<CommResults> results_;  // of whoever shows them
};

}  // namespace paceline::cli
