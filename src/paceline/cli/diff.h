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

/// What `paceline diff` and `paceline ab` have in common: how to compare and how to show it.
class DiffFlags {
 public:
  /// Adds the flags to the subcommand `app`.
  explicit DiffFlags(CLI::App& app);

  struct Side {
    std::string name;
    std::vector<records::RunRecord> records;
    std::vector<records::CommRecord> operations{};  // in place of records
  };
  /// How the flags compare; the sides must outlive what is made with it.
  report::DiffOptions options(report::StepTime step_time = report::StepTime::kMedian) const;

  /// What the sides compare to, with what it points into.
  struct Comparison {
    std::unique_ptr<report::OperationSides> operations;
    report::Diff diff;
  };
  /// Throws UsageError where one side has operations and the other runs, or operations are to be
  /// shown as steps.
  Comparison compare(const Side& base, const Side& test, const report::DiffOptions& options) const;

  /// Compares, prints on stdout and returns the exit code, which --fail-on says.  Throws UsageError
  /// where no case has a partner.
  int show(const Side& base, const Side& test, const report::DiffOptions& options) const;

  /// Throws UsageError where --page cannot be written, before time is spent.
  void check() const;

  std::uint64_t seed() const { return seed_; }
  /// Whether the format shows steps, which a command's wall time has not.
  bool needs_steps() const { return format_ == "ddp"; }

 private:
  int status_of(const report::Diff& diff) const;

  double threshold_percent_ = 0;
  std::string format_ = "table";
  std::string page_;  // a file
  std::uint64_t seed_ = 0;
  std::vector<std::string> fail_on_{"regression"};
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
