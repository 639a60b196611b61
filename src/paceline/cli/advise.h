// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "paceline/cli/job_flags.h"

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
  JobFlags job_;
  double error_percent_ = 5;
  std::vector<double> bucket_mb_;
};

}  // namespace paceline::cli
