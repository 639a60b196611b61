// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace CLI {
class App;
}  // namespace CLI

namespace paceline::cli {

/// `paceline topology NAME -n RANKS`: prints the mixing matrix of a graph, its communication cost,
/// and how fast it averages.
class TopologyCommand {
 public:
  /// Adds the flags to the subcommand `app`.
  explicit TopologyCommand(CLI::App& app);

  /// To be called after the parsing. Prints the text and returns the exit code.
  int run() const;

 private:
  std::string name_;
  int ranks_ = 0;
  int local_ = 0;
  int steps_ = 8;
  bool of_machines_ = false;
};

}  // namespace paceline::cli
