// SPDX-License-Identifier: Apache-2.0
#include "paceline/cli/ab.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "paceline/base/clock.h"
#include "paceline/base/error.h"
#include "paceline/base/exit_status.h"
#include "paceline/base/shell.h"
#include "paceline/cli/argument_checks.h"
#include "paceline/front/alternate.h"
#include "paceline/front/results.h"
#include "paceline/records/readers.h"
#include "paceline/report/diff.h"

namespace paceline::cli {
namespace {

namespace fs = std::filesystem;

constexpr int kDefaultRuns = 6;

DiffFlags::Side side_of(const front::Alternation::Side& side) {
  records::FileContents read = std::move(records::read_any({side.records}).front());
  return {fmt::format("{}: {}", side.name, shell_command(side.command)), std::move(read.runs),
          std::move(read.operations)};
}

bool holds_comparison(const fs::path& folder) {
  return fs::exists(folder / "a.jsonl") || fs::exists(folder / "b.jsonl");
}

// The default folder is named after the current time in seconds; a number is added if another
// comparison has used this name.
std::string default_folder() {
  const fs::path base = fs::path(front::default_records_path("ab")).replace_extension();
  std::string folder = base;
  for (int next = 2; holds_comparison(folder); ++next) {
    folder = fmt::format("{}-{}", base.string(), next);
  }
  return folder;
}

// Makes the folder of a comparison. Throws UsageError if it holds records of an earlier one.
std::string make_folder(const std::string& wanted) {
  const std::string folder = wanted.empty() ? default_folder() : wanted;
  std::error_code error;
  fs::create_directories(folder, error);
  if (!fs::is_directory(folder)) {
    throw UsageError(fmt::format("--out {}: cannot be made: {}", folder, error.message()));
  }
  for (const char* file : {"a.jsonl", "b.jsonl"}) {
    if (fs::exists(fs::path(folder) / file)) {
      throw UsageError(fmt::format("--out {}: holds {} of an earlier comparison", folder, file));
    }
  }
  return folder;
}

std::string value_of_side(const std::string& flag, const std::vector<std::string>& given,
                          std::size_t side) {
  if (given.size() > 2) {
    throw UsageError(fmt::format("{}: given {} times; once for both sides, or once for each", flag,
                                 given.size()));
  }
  return given.empty() ? "" : given[given.size() == 1 ? 0 : side];
}

}  // namespace

AbCommand::AbCommand(CLI::App& app)
    : flags_(app),
      until_(app, "run until the change is proven, or proven smaller than this", "a side") {
  app.add_option("--runs", runs_,
                 fmt::format("how often each command runs "
                             "[{}]",
                             kDefaultRuns))
      ->check(whole_number_in(1))
      ->type_name("N");
  app.add_option("--prepare", prepare_,
                 "shell command before each run, outside of its time; given twice: of A, of B")
      ->allow_extra_args(false)
      ->type_name("COMMAND");
  app.add_option("--cleanup", cleanup_, "the same after each run")
      ->allow_extra_args(false)
      ->type_name("COMMAND");
  app.add_option("--timeout", timeout_s_, "seconds that one command may take")
      ->capture_default_str()
      ->check(number_in(0.001, 1e9));
  app.add_option("--out", out_, "folder for records and logs; default results/ab-<time>");
  app.footer(
      "paceline ab --until 2% -- COMMAND_A -- COMMAND_B\n"
      "paceline ab --runs 6 -- COMMAND_A -- COMMAND_B\n"
      "A command may begin with NAME=value. It leaves records in the file that "
      "{records}\nin its words, or the variable PACELINE_RECORDS, names (paceline run and comm "
      "do);\nof one that prints the table of nccl-tests or rccl-tests, such as all_reduce_perf, "
      "the\noperations are compared; of another, the wall time (which --format ddp cannot show).\n"
      "Exit code: 0 no proven regression of B, 1 one (corrected p < 0.05 and "
      "its interval\nbeyond --threshold), 2 nothing could be compared, 3 a command failed, 4 "
      "with\n--fail-on undecided: not decided, 130 Ctrl-C.");
}

void AbCommand::take_commands(std::vector<std::string>& arguments) {
  if (arguments.empty() || arguments.front() != "ab") {
    return;
  }
  const auto first = std::find(arguments.begin(), arguments.end(), "--");
  if (first == arguments.end()) {
    return;
  }
  const auto second = std::find(first + 1, arguments.end(), "--");
  commands_[0].assign(first + 1, second);
  if (second != arguments.end()) {
    commands_[1].assign(second + 1, arguments.end());
  }
  arguments.erase(first, arguments.end());
}

front::Alternation AbCommand::alternation() const {
  if (commands_[0].empty() || commands_[1].empty()) {
    throw UsageError("two commands are needed: paceline ab --runs 6 -- COMMAND_A -- COMMAND_B");
  }
  if (until_.within() && runs_) {
    throw UsageError(fmt::format("--runs {}: runs end by --until; --budget {} is the most of them",
                                 *runs_, *runs_));
  }
  front::Alternation wanted;
  for (const std::size_t side : {0, 1}) {
    wanted.sides[side].name = side == 0 ? "A" : "B";
    wanted.sides[side].command = commands_[side];
    wanted.sides[side].prepare = value_of_side("--prepare", prepare_, side);
    wanted.sides[side].cleanup = value_of_side("--cleanup", cleanup_, side);
  }
  wanted.runs = until_.within() ? until_.most_runs() : runs_.value_or(kDefaultRuns);
  wanted.needs_records = flags_.needs_steps();
  wanted.seed = flags_.seed();
  wanted.deadline = to_milliseconds(timeout_s_);
  return wanted;
}

report::DiffOptions AbCommand::options() const {
  report::DiffOptions options = flags_.options();
  if (const auto within = until_.within()) {
    if (options.threshold > *within) {
      throw UsageError(
          fmt::format("--threshold {:g}: is more than --until {:g}%, and a change between the two "
                      "would never be decided",
                      100 * options.threshold, 100 * *within));
    }
    options.until = report::UntilOptions{.within = *within,
                                         .most = static_cast<std::size_t>(until_.most_runs())};
  }
  return options;
}

int AbCommand::run() const {
  until_.check();
  front::Alternation wanted = alternation();
  const report::DiffOptions options = this->options();
  const fs::path folder = make_folder(out_);
  for (auto& side : wanted.sides) {
    const std::string file = side.name == "A" ? "a" : "b";
    side.records = folder / (file + ".jsonl");
    side.log = folder / (file + ".log");
  }
  if (options.until) {
    wanted.is_enough = [&, watch = Stopwatch()] {
      const DiffFlags::Side a = side_of(wanted.sides[0]);
      const DiffFlags::Side b = side_of(wanted.sides[1]);
      const auto found = flags_.compare(a, b, options);
      fmt::print(stderr, "{}\n", report::sequential_progress_text(found.diff));
      const auto most = until_.time();
      return report::is_decided(found.diff) || (most && watch.elapsed() >= *most);
    };
  }
  const front::AlternationEnd end = front::alternate(wanted);
  fmt::print(stderr, "records: {}, {}\n", wanted.sides[0].records, wanted.sides[1].records);
  int code = 0;
  if (end.complete_runs > 0) {
    code = flags_.show(side_of(wanted.sides[0]), side_of(wanted.sides[1]), options);
  }
  if (!end.failure.empty()) {
    throw WorldError(end.failure);
  }
  return end.stop_signal != 0 ? kSignalStatus + end.stop_signal : code;
}

}  // namespace paceline::cli
