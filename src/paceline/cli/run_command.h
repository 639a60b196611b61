// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "paceline/case/flags.h"
#include "paceline/cli/until_flags.h"

namespace paceline::cli {

/// `paceline run`: checks what was asked, then starts the ranks, or, where a
/// launcher has started this process, runs as one of them.
class RunCommand {
 public:
  /// Adds the flags to the subcommand `app`.
  explicit RunCommand(CLI::App& app);

  /// After the parsing; `command_line` is the program's, without its name. Returns the exit code.
  int run(const std::vector<std::string>& command_line) const;

 private:
  cases::Flags flags_;
  UntilFlags until_;
};

}  // namespace paceline::cli
