// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "paceline/cli/job_flags.h"
#include "paceline/cli/measured_flags.h"
#include "paceline/predict/advise.h"

namespace paceline::cli {

/// `paceline advise MODEL --cluster FILE`: ranks strategies, bucket sizes and partitions by
/// predicted step time, and prints the command that runs the best strategy.
class AdviseCommand {
 public:
  /// Adds the flags to the subcommand `app`.
  explicit AdviseCommand(CLI::App& app);

  /// To be called after the parsing. Prints the table and returns the exit code.
  int run() const;

 private:
  predict::AdviseRequest request() const;

  JobFlags job_;
  MeasuredFlags measured_;
  std::optional<double> error_percent_;  // value of --error; absent: the error comes from the table
                                         // of published errors
  std::vector<double> bucket_mb_;
  std::string format_ = "table";
  bool any_update_ = false;
  int top_ = 20;
};

}  // namespace paceline::cli
