// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "paceline/cli/job_flags.h"

namespace paceline::cli {

/// `paceline advise MODEL --cluster FILE`: strategies, bucket sizes and
/// partitions by predicted step time, and the command that runs the first.
class AdviseCommand {
 public:
  /// Adds the flags to the subcommand `app`.
  explicit AdviseCommand(CLI::App& app);

  /// After the parsing.  Prints the table; returns the exit code.
  int run() const;

 private:
  JobFlags job_;
  double error_percent_ = -1;  // below 0: what each family has earned
  std::vector<double> bucket_mb_;
  bool any_update_ = false;
  int top_ = 20, verify_ = 0;
};

}  // namespace paceline::cli
