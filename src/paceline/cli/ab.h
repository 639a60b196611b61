// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "paceline/cli/diff.h"
#include "paceline/cli/until_flags.h"
#include "paceline/front/alternate.h"

namespace paceline::cli {

/// `paceline ab [FLAGS] -- COMMAND_A -- COMMAND_B`: whole commands in turns,
/// in an order drawn for each run, and then the comparison of what they left.
class AbCommand {
 public:
  explicit AbCommand(CLI::App& app);

  /// Takes the commands off `arguments`, before they are parsed; nothing where the subcommand is
  /// another one.
  void take_commands(std::vector<std::string>& arguments);

  /// After the parsing.  Returns the exit code: that of the comparison, 3
  /// where a command failed, 128 + signal where we were told to stop.
  int run() const;

 private:
  front::Alternation alternation() const;
  report::DiffOptions options() const;

  DiffFlags flags_;
  UntilFlags until_;
  std::optional<int> runs_;  // 6 without --until
  double timeout_s_ = 3600;
  std::string out_;
  std::vector<std::string> prepare_, cleanup_;  // one of both sides, or two
  std::vector<std::string> commands_[2];
};

}  // namespace paceline::cli
