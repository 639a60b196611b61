// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "paceline/case/case.h"
#include "paceline/case/job_spec.h"
#include "paceline/cluster/cluster_choice.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace paceline::cli {

/// `paceline comm`: measures how long an engine's operations take for each size. Starts its ranks
/// on this machine, or runs as one of the ranks that a launcher has started, as `paceline run`
/// does.
class CommCommand {
 public:
  /// Adds the flags to the subcommand `app`.
  explicit CommCommand(CLI::App& app);

  /// To be called after the parsing. `command_line` holds the program's arguments, without its
  /// name. Returns the exit code: 3 if an engine delivered wrong values.
  int run(const std::vector<std::string>& command_line);

 private:
  std::vector<std::int64_t> sizes() const;
  int predict() const;
  cases::JobSpec job(const std::vector<std::string>& command_line) const;
  int run_here(cases::JobSpec job) const;

  std::string min_ = "4B", max_ = "256MiB";
  double factor_ = 4;
  std::vector<int> worlds_;  // values of --ranks
  bool predict_ = false;
  std::vector<const CLI::Option*> measuring_;  // those without an effect on --predict
  std::vector<std::string> only_;
  cluster::ClusterChoice choice_;
  cases::Settings settings_;
  cases::OperationSweep sweep_;
  cases::Case configuration_;  // only engine, device and link are used
};

}  // namespace paceline::cli
