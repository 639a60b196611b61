// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "paceline/records/comm_record.h"
#include "paceline/report/diff.h"
#include "paceline/report/operations.h"

namespace CLI {
class App;
}

namespace paceline::cli {

/// The flags that `paceline diff` and `paceline ab` share: how to compare, and how to show the
/// result.
class DiffFlags {
 public:
  /// Adds the flags to the subcommand `app`.
  explicit DiffFlags(CLI::App& app);

  struct Side {
    std::string name;
    std::vector<records::RunRecord> records;
    std::vector<records::CommRecord> operations{};  // if any, `records` is empty
  };
  /// Returns the options of a comparison, as set by the flags and `step_time`. Results of a
  /// comparison point into its sides, which must outlive them.
  report::DiffOptions options(report::StepTime step_time = report::StepTime::kMedian) const;

  /// The result of a comparison, with the data that it points into.
  struct Comparison {
    std::unique_ptr<report::OperationSides> operations;
    report::Diff diff;
  };
  /// Throws UsageError if one side has operations and the other has runs, or if the format shows
  /// steps and the sides have none.
  Comparison compare(const Side& base, const Side& test, const report::DiffOptions& options) const;

  /// Compares the sides, prints the result on stdout and returns the exit code, which depends on
  /// --fail-on. Throws UsageError if no case is on both sides.
  int show(const Side& base, const Side& test, const report::DiffOptions& options) const;

  std::uint64_t seed() const { return seed_; }
  /// Whether the format shows single steps, which the wall time of a command does not have.
  bool needs_steps() const { return format_ == "ddp"; }

 private:
  int exit_code_of(const report::Diff& diff) const;

  double threshold_percent_ = 0;
  std::string format_ = "table";
  std::uint64_t seed_ = 0;
  std::vector<std::string> fail_on_{"regression"};
};

/// `paceline diff BASE [TEST]`: compares the records of two sets of files, case by case.
class DiffCommand {
 public:
  explicit DiffCommand(CLI::App& app);

  /// To be called after the parsing. Returns the exit code.
  int run() const;

 private:
  DiffFlags flags_;
  std::string base_, test_;                         // files, separated by commas
  std::vector<std::string> base_only_, test_only_;  // conditions KEY=VALUE that select records of
                                                    // each side
  std::string step_time_ = "median";
};

}  // namespace paceline::cli
