// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "paceline/case/flags.h"
#include "paceline/cli/until_flags.h"

namespace paceline::cli {

/// `paceline run`: checks its arguments, then starts the ranks. If a launcher has started this
/// process, it runs as one of the ranks.
class RunCommand {
 public:
  /// Adds the flags to the subcommand `app`.
  explicit RunCommand(CLI::App& app);

  /// To be called after the parsing. `command_line` holds the program's arguments, without its
  /// name. Returns the exit code.
  int run(const std::vector<std::string>& command_line) const;

 private:
  cases::Flags flags_;
  UntilFlags until_;
};

}  // namespace paceline::cli
