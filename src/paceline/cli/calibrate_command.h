// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "paceline/cluster/cluster_choice.h"

namespace CLI {
class App;
}

namespace paceline::cli {

/// `paceline calibrate FILES -o mine.toml`: makes a cluster file from measured collectives, and
/// from files that say which hosts and devices there are.
class CalibrateCommand {
 public:
  /// Adds the flags to the subcommand `app`.
  explicit CalibrateCommand(CLI::App& app);

  /// To be called after the parsing.  Writes the file, prints the fitted constants and returns the
  /// exit code.
  int run() const;

 private:
  std::vector<std::string> files_;
  std::string output_;
  cluster::ClusterChoice choice_;
};

}  // namespace paceline::cli
