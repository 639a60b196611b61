// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "paceline/case/job_spec.h"
#include "paceline/cluster/cluster_choice.h"

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

  /// After the parsing; `command_line` is the program's, without its name. Returns the exit code: 3
  /// where an engine moved wrong values.
  int run(const std::vector<std::string>& command_line);

 private:
  void add_sizes(CLI::App& app);
  void add_ranks(CLI::App& app);
  std::vector<std::int64_t> sizes() const;
  int predict() const;
  cases::JobSpec job(const std::vector<std::string>& command_line) const;
  int run_here(cases::JobSpec job) const;

  std::string min_ = "4B", max_ = "256MiB";
  double factor_ = 4;
  std::string worlds_;  // --ranks
  bool predict_ = false;
  std::vector<std::string> only_;
  cluster::ClusterChoice choice_;
  cases::Settings settings_;
  cases::OperationSweep sweep_;
};

}  // namespace paceline::cli
