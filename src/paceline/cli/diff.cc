// SPDX-License-Identifier: Apache-2.0
#include "paceline/cli/diff.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paceline/base/error.h"
#include "paceline/base/exit_status.h"
#include "paceline/base/text.h"
#include "paceline/cli/argument_checks.h"
#include "paceline/cli/record_files.h"
#include "paceline/report/diff_formats.h"
#include "paceline/report/pairing.h"

namespace paceline::cli {
namespace {

using records::RunRecord;

// Reads all files of one side. The run numbers of each file continue those of the file before.
FileRecords read_side(const std::string& files) {
  FileRecords read = read_record_files(split_at(files, ','), Operations::kRead);
  if (read.records.empty() && read.operations.empty()) {
    throw UsageError(fmt::format("{}: holds no record", files));
  }
  int first = 0;  // new number of run 0 of this file
  int next = 0;
  for (std::size_t i = 0; i < read.records.size(); ++i) {
    if (i > 0 && read.file_of[i] != read.file_of[i - 1]) {
      first = next;
    }
    read.records[i].run += first;
    next = std::max(next, read.records[i].run + 1);
  }
  return read;
}

std::vector<RunRecord> select(std::vector<RunRecord> records, const std::string& flag,
                              const std::vector<std::string>& filters) {
  for (const std::string& filter : filters) {
    const std::size_t equals = filter.find('=');
    if (equals == std::string::npos) {
      throw UsageError(
          fmt::format("{} {}: expected KEY=VALUE, such as strategy=ddp", flag, filter));
    }
    try {
      records =
          report::select_records(records, filter.substr(0, equals), filter.substr(equals + 1));
    } catch (const UsageError& error) {
      throw UsageError(fmt::format("{} {}: {}", flag, filter, error.what()));
    }
  }
  return records;
}

std::string side_name(const std::string& files, const std::vector<std::string>& filters) {
  return filters.empty() ? files : fmt::format("{} ({})", files, fmt::join(filters, ", "));
}

DiffFlags::Side side_of(const std::string& files, const std::string& flag,
                        const std::vector<std::string>& filters) {
  FileRecords read = read_side(files);
  if (!read.operations.empty() && !filters.empty()) {
    throw UsageError(fmt::format(
        "{} {}: chooses cases of trainings, and {} has operations, which pair by what they are",
        flag, filters.front(), files));
  }
  return {side_name(files, filters), select(std::move(read.records), flag, filters),
          std::move(read.operations)};
}

// The allowed values of --fail-on, the kinds of results that make the exit code non-zero.
constexpr const char* kRegression = "regression";
constexpr const char* kChange = "change";
constexpr const char* kUndecided = "undecided";
constexpr const char* kNone = "none";

}  // namespace

DiffFlags::DiffFlags(CLI::App& app) {
  app.add_option("--threshold", threshold_percent_, "a change counts only beyond so many percent")
      ->capture_default_str()
      ->check(number_in(0, 1000));
  add_format_flag(app, format_, report::diff_format_names());
  app.add_option("--seed", seed_, "of what is drawn by chance")
      ->capture_default_str()
      ->check(seed_in_64_bits());
  app.add_option("--fail-on", fail_on_,
                 "regression: exit code 1 where a case is proven slower; change: 1 where it is "
                 "proven faster, too; undecided: 4 where none is and anything is missing for a "
                 "verdict, else as regression; none: 0 for every verdict; several with commas")
      ->delimiter(',')
      ->type_name("NAME,NAME")
      ->capture_default_str()
      ->check(one_of("verdict", {kRegression, kChange, kUndecided, kNone}));
}

int DiffFlags::exit_code_of(const report::Diff& diff) const {
  const auto fails_on = [this](const char* verdict) {
    return std::ranges::find(fail_on_, verdict) != fail_on_.end();
  };
  if (fails_on(kNone)) {
    return 0;
  }
  if (diff.regression() || (fails_on(kChange) && diff.changed())) {
    return kFailedStatus;
  }
  return fails_on(kUndecided) && !diff.missing.empty() ? kUndecidedStatus : 0;
}

report::DiffOptions DiffFlags::options(report::StepTime step_time) const {
  return {.step_time = step_time, .threshold = threshold_percent_ / 100, .seed = seed_};
}

DiffFlags::Comparison DiffFlags::compare(const Side& base, const Side& test,
                                         const report::DiffOptions& options) const {
  if (base.operations.empty() != test.operations.empty()) {
    const bool first = !base.operations.empty();
    throw UsageError(fmt::format("{} has records of operations, and {} of trainings or commands",
                                 (first ? base : test).name, (first ? test : base).name));
  }
  Comparison comparison;
  if (base.operations.empty()) {
    comparison.diff = report::diff_records(base.records, test.records, options);
  } else {
    comparison.operations = std::make_unique<report::OperationSides>(
        report::operation_sides(base.operations, test.operations));
    comparison.diff = report::diff_operations(*comparison.operations, options);
  }
  if ((comparison.diff.wall_times || comparison.operations) && needs_steps()) {
    throw UsageError(fmt::format(
        "--format ddp: these records hold {}, for which PyTorch's diff.py has no layout; leave "
        "--format out",
        comparison.operations ? "times of operations" : "wall times of commands"));
  }
  comparison.diff.base_name = base.name;
  comparison.diff.test_name = test.name;
  return comparison;
}

int DiffFlags::show(const Side& base, const Side& test, const report::DiffOptions& options) const {
  const Comparison comparison = compare(base, test, options);
  const report::Diff& diff = comparison.diff;
  const std::string text = report::render_diff(format_, diff);
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
  if (diff.rows.empty() && comparison.operations) {
    throw UsageError(
        fmt::format("nothing was compared, for no operation and size of one side is in "
                    "the other: {}",
                    fmt::join(comparison.operations->unpaired, "; ")));
  }
  if (diff.rows.empty()) {
    throw UsageError(fmt::format("nothing was compared, for no case of {} is in {}{}", base.name,
                                 test.name,
                                 report::differing_keys_text(diff.only_base, diff.only_test)));
  }
  return exit_code_of(diff);
}

DiffCommand::DiffCommand(CLI::App& app) : flags_(app) {
  app.add_option("BASE", base_,
                 "record file, or the JSON of PyTorch's DDP benchmark, or operations (paceline "
                 "comm, nccl-tests); several with commas are further runs")
      ->required();
  app.add_option("TEST", test_, "the same for the other side; default: BASE");
  app.add_option("--base", base_only_, "KEY=VALUE: of the base, only these cases (strategy=ddp)")
      ->allow_extra_args(false);
  app.add_option("--test", test_only_, "KEY=VALUE: of the test, only these cases")
      ->allow_extra_args(false);
  app.add_option("--step-time", step_time_,
                 "median: of a run's steps, each as long as its slowest rank's; "
                 "mean: wall time of all steps over their number, which "
                 "examples/s follow")
      ->capture_default_str()
      ->check(one_of("step time", {"median", "mean"}));
  app.footer(
      "Exit code: 0 no proven regression of TEST, 1 one (corrected p < 0.05 and its "
      "interval\nbeyond --threshold), 2 nothing could be compared, 4 with --fail-on undecided: not "
      "decided.");
}

int DiffCommand::run() const {
  if (test_.empty() && (base_only_.empty() || test_only_.empty())) {
    throw UsageError(
        "TEST: a second file is missing; or compare cases of one file by --base KEY=VALUE and "
        "--test KEY=VALUE");
  }
  const bool means = step_time_ == "mean";
  if (means && flags_.needs_steps()) {
    throw UsageError(
        "--format ddp: PyTorch's diff.py prints percentiles of steps, not their mean; leave out "
        "--step-time mean or --format ddp");
  }
  const std::string& test_files = test_.empty() ? base_ : test_;
  const DiffFlags::Side base = side_of(base_, "--base", base_only_);
  const DiffFlags::Side test = side_of(test_files, "--test", test_only_);
  return flags_.show(base, test,
                     flags_.options(means ? report::StepTime::kMean : report::StepTime::kMedian));
}

}  // namespace paceline::cli
