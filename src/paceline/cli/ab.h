// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "paceline/cli/diff.h"
#include "paceline/cli/until_flags.h"
#include "paceline/front/alternate.h"

namespace paceline::cli {

/// `paceline ab [FLAGS] -- COMMAND_A -- COMMAND_B`: runs two whole commands alternately, in a
/// random order for each run, and then compares their records.
class AbCommand {
 public:
  explicit AbCommand(CLI::App& app);

  /// Removes the two commands from `arguments` before they are parsed. Does nothing if the
  /// subcommand is not `ab`.
  void take_commands(std::vector<std::string>& arguments);

  /// To be called after the parsing. Returns the exit code: that of the comparison, or 128 + signal
  /// after a signal to stop. Throws WorldError (exit code 3) if a command failed.
  int run() const;

 private:
  front::Alternation alternation() const;
  report::DiffOptions options() const;

  DiffFlags flags_;
  UntilFlags until_;
  std::optional<int> runs_;  // value of --runs; absent: 6 runs unless --until is given
  double timeout_s_ = 3600;
  std::string out_;
  std::vector<std::string> prepare_, cleanup_;  // one value for both sides, or one for each
  std::vector<std::string> commands_[2];
};

}  // namespace paceline::cli
