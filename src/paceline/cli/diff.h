// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "paceline/report/diff.h"

namespace CLI {
class App;
}

namespace paceline::cli {

/// What `paceline diff` and `paceline ab` have in common: how to compare and
/// how to show it.
class DiffFlags {
 public:
  /// Adds the flags to the subcommand `app`.
  explicit DiffFlags(CLI::App& app);

  /// Compares, prints on stdout and returns the exit code: 1 for a proven
  /// regression, else 0.  Throws UsageError where no case has a partner.
  struct Side {
    std::string name;
    std::vector<records::RunRecord> records;
  };
  int show(const Side& base,
           const Side& test,
           report::StepTime step_time = report::StepTime::kMedian) const;

  std::uint64_t seed() const { return seed_; }
  /// Whether the format shows steps, which a command's wall time has not.
  bool needs_steps() const { return format_ == "ddp"; }

 private:
  double threshold_percent_ = 0;
  std::string format_ = "table";
  std::uint64_t seed_ = 0;
};

/// `paceline diff BASE [TEST]`.
class DiffCommand {
 public:
  explicit DiffCommand(CLI::App& app);

  /// After the parsing.  Returns the exit code.
  int run() const;

 private:
  DiffFlags flags_;
  std::string base_, test_;                         // files, with commas
  std::vector<std::string> base_only_, test_only_;  // KEY=VALUE
  std::string step_time_ = "median";
};

}  // namespace paceline::cli
