// SPDX-License-Identifier: Apache-2.0
#include "paceline/cli/diff.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paceline/base/error.h"
#include "paceline/base/text.h"
#include "paceline/cli/argument_checks.h"
#include "paceline/cli/record_files.h"
#include "paceline/report/diff_formats.h"
#include "paceline/report/diff_notes.h"
#include "paceline/report/formats.h"

namespace paceline::cli {
namespace {

using records::RunRecord;

// All files of one side; the runs of each are numbered on from those of the
// file before.
std::vector<RunRecord> read_side(const std::string& files) {
  FileRecords read = read_record_files(split_at(files, ','));
  if (read.records.empty()) {
    throw UsageError(fmt::format("{}: holds no record", files));
  }
  int first = 0;  // number of this file's run 0
  int next = 0;
  for (std::size_t i = 0; i < read.records.size(); ++i) {
    if (i > 0 && read.file_of[i] != read.file_of[i - 1]) {
      first = next;
    }
    read.records[i].run += first;
    next = std::max(next, read.records[i].run + 1);
  }
  return std::move(read.records);
}

std::vector<RunRecord> select(std::vector<RunRecord> records,
                              const std::string& flag,
                              const std::vector<std::string>& filters) {
  for (const std::string& filter : filters) {
    const std::size_t equals = filter.find('=');
    if (equals == std::string::npos) {
      throw UsageError(fmt::format(
          "{} {}: expected KEY=VALUE, such as strategy=ddp", flag, filter));
    }
    try {
      records = report::select_records(
          records, filter.substr(0, equals), filter.substr(equals + 1));
    } catch (const UsageError& error) {
      throw UsageError(fmt::format("{} {}: {}", flag, filter, error.what()));
    }
  }
  return records;
}

std::string side_name(const std::string& files,
                      const std::vector<std::string>& filters) {
  return filters.empty()
             ? files
             : fmt::format("{} ({})", files, fmt::join(filters, ", "));
}

std::string format_help() {
  std::vector<std::string> parts;
  for (const report::DiffFormat& format : report::diff_formats()) {
    parts.push_back(fmt::format("{}: {}", format.name, format.summary));
  }
  return fmt::format("{}", fmt::join(parts, "; "));
}

}  // namespace

DiffFlags::DiffFlags(CLI::App& app) {
  app.add_option("--threshold",
                 threshold_percent_,
                 "a change counts only beyond so many percent")
      ->capture_default_str()
      ->check(number_in(0, 1000));
  app.add_option("--format", format_, format_help())
      ->capture_default_str()
      ->check(one_of("format", report::names_of(report::diff_formats())));
  app.add_option("--seed", seed_, "of what is drawn by chance")
      ->capture_default_str()
      ->check(seed_in_64_bits());
}

int DiffFlags::show(const Side& base,
                    const Side& test,
                    report::StepTime step_time) const {
  report::Diff diff =
      report::diff_records(base.records,
                           test.records,
                           {.step_time = step_time,
                            .threshold = threshold_percent_ / 100,
                            .seed = seed_});
  if (diff.wall_times && needs_steps()) {
    throw UsageError(
        "--format ddp: these records hold wall times of commands, for which "
        "PyTorch's diff.py has no layout; leave --format out");
  }
  diff.base_name = base.name;
  diff.test_name = test.name;
  const std::string text =
      report::find_format(report::diff_formats(), format_).render(diff);
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
  if (diff.rows.empty()) {
    const std::string nearest =
        diff.only_base.empty()
            ? ""
            : report::nearest_text(
                  diff.only_base.front(), diff.only_test, true);
    throw UsageError(fmt::format(
        "nothing was compared, for no case of one side is in the other: {} "
        "has {}; {} has {}{}{}",
        base.name,
        report::describe(diff.only_base),
        test.name,
        report::describe(diff.only_test),
        nearest.empty() ? "" : "; of the first, ",
        nearest));
  }
  return diff.regression() ? 1 : 0;
}

DiffCommand::DiffCommand(CLI::App& app) : flags_(app) {
  app.add_option("BASE",
                 base_,
                 "record file, or the JSON of PyTorch's DDP benchmark; several "
                 "with commas are further runs")
      ->required();
  app.add_option("TEST", test_, "the same for the other side; default: BASE");
  app.add_option("--base",
                 base_only_,
                 "KEY=VALUE: of the base, only these cases (strategy=ddp)")
      ->allow_extra_args(false);
  app.add_option(
         "--test", test_only_, "KEY=VALUE: of the test, only these cases")
      ->allow_extra_args(false);
  app.add_option(
         "--step-time",
         step_time_,
         "median: of a run's steps, each as long as its slowest rank's; "
         "mean: wall time of all steps over their number, which "
         "examples/s follow")
      ->capture_default_str()
      ->check(one_of("step time", {"median", "mean"}));
  app.footer(
      "Exit code: 0 no proven regression of TEST, 1 one (corrected p < 0.05 "
      "and its interval\nbeyond --threshold), 2 nothing could be compared.");
}

int DiffCommand::run() const {
  if (test_.empty() && (base_only_.empty() || test_only_.empty())) {
    throw UsageError(
        "TEST: a second file is missing; or compare cases of one file by "
        "--base KEY=VALUE and --test KEY=VALUE");
  }
  const bool means = step_time_ == "mean";
  if (means && flags_.needs_steps()) {
    throw UsageError(
        "--format ddp: PyTorch's diff.py prints percentiles of steps, not "
        "their mean; leave out --step-time mean or --format ddp");
  }
  const std::string& test_files = test_.empty() ? base_ : test_;
  DiffFlags::Side base{side_name(base_, base_only_),
                       select(read_side(base_), "--base", base_only_)};
  DiffFlags::Side test{side_name(test_files, test_only_),
                       select(read_side(test_files), "--test", test_only_)};
  return flags_.show(
      base, test, means ? report::StepTime::kMean : report::StepTime::kMedian);
}

}  // namespace paceline::cli
