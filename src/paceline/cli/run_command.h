// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "paceline/experiment/flags.h"

namespace paceline::cli {

/// `paceline run`: everything that can be found wrong is found before a rank
/// starts; then the ranks are started here, or, where a launcher has started
/// this process, its world is joined.
class RunCommand {
 public:
  /// Adds the flags to the subcommand `app`.
  explicit RunCommand(CLI::App& app);

  /// After the parsing; `command_line` is the program's, without its name.
  /// Returns the exit code.
  int run(const std::vector<std::string>& command_line) const;

 private:
  experiment::Flags flags_;
  std::string order_path_;  // of a rank that our own launcher started
};

}  // namespace paceline::cli
