// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "paceline/plan/cluster_choice.h"

namespace CLI {
class App;
}

namespace paceline::cli {

/// `paceline advise MODEL --cluster FILE`: strategies and bucket sizes by
/// predicted step time, and the command that runs the first.
class AdviseCommand {
 public:
  /// Adds the flags to the subcommand `app`.
  explicit AdviseCommand(CLI::App& app);

  /// After the parsing.  Prints the table; returns the exit code.
  int run() const;

 private:
  plan::ClusterChoice cluster_;
  std::string model_, optimizer_ = "sgd", engine_ = "nccl", algorithm_;
  int ranks_ = 0, batch_size_ = 0;
  double device_rate_ = 0, error_percent_ = 5;
  std::vector<double> bucket_mb_;
};

}  // namespace paceline::cli
