// SPDX-License-Identifier: Apache-2.0
#include "paceline/cli/ab.h"

#include <algorithm>
#include <chrono>
#include <filesystem>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "paceline/base/clock.h"
#include "paceline/base/error.h"
#include "paceline/base/shell.h"
#include "paceline/cli/argument_checks.h"
#include "paceline/measure/alternate.h"
#include "paceline/measure/results.h"
#include "paceline/records/store.h"

namespace paceline::cli {
namespace {

namespace fs = std::filesystem;

DiffFlags::Side side_of(const measure::Alternation::Side& side) {
  return {fmt::format("{}: {}", side.name, shell_command(side.command)),
          records::read_records(side.records).records};
}

bool holds_comparison(const fs::path& folder) {
  return fs::exists(folder / "a.jsonl") || fs::exists(folder / "b.jsonl");
}

// Named for the present second.  Another comparison may have begun in it.
std::string default_folder() {
  const fs::path base =
      fs::path(measure::default_records_path("ab")).replace_extension();
  std::string folder = base;
  for (int next = 2; holds_comparison(folder); ++next) {
    folder = fmt::format("{}-{}", base.string(), next);
  }
  return folder;
}

// A new folder; what an earlier comparison left there is not added to.
std::string make_folder(const std::string& wanted) {
  const std::string folder = wanted.empty() ? default_folder() : wanted;
  std::error_code error;
  fs::create_directories(folder, error);
  if (!fs::is_directory(folder)) {
    throw UsageError(
        fmt::format("--out {}: cannot be made: {}", folder, error.message()));
  }
  for (const char* file : {"a.jsonl", "b.jsonl"}) {
    if (fs::exists(fs::path(folder) / file)) {
      throw UsageError(fmt::format(
          "--out {}: holds {} of an earlier comparison", folder, file));
    }
  }
  return folder;
}

}  // namespace

AbCommand::AbCommand(CLI::App& app) : flags_(app) {
  app.add_option("--runs", runs_, "how often each command runs")
      ->capture_default_str()
      ->check(whole_number_in(1));
  app.add_option("--timeout", timeout_s_, "seconds that one command may take")
      ->capture_default_str()
      ->check(number_in(0.001, 1e9));
  app.add_option(
      "--out", out_, "folder for records and logs; default results/ab-<time>");
  app.footer(
      "paceline ab --runs 6 -- COMMAND_A -- COMMAND_B\n"
      "A command may begin with NAME=value. It leaves records in the file that "
      "{records}\nin its words, or the variable PACELINE_RECORDS, names "
      "(paceline run does); of one\nthat leaves none, the wall time is "
      "compared (which --format ddp cannot show).\n"
      "Exit code: 0 no proven regression of B, 1 one (corrected p < 0.05 and "
      "its interval\nbeyond --threshold), 2 nothing could be compared, 3 a "
      "command failed, 130 Ctrl-C.");
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
    separated_ = true;
  }
  arguments.erase(first, arguments.end());
}

int AbCommand::run() const {
  if (!separated_ || commands_[0].empty() || commands_[1].empty()) {
    throw UsageError(
        "two commands are needed: paceline ab --runs 6 -- COMMAND_A -- "
        "COMMAND_B");
  }
  const fs::path folder = make_folder(out_);
  measure::Alternation wanted;
  wanted.sides[0] = {"A", commands_[0], folder / "a.jsonl", folder / "a.log"};
  wanted.sides[1] = {"B", commands_[1], folder / "b.jsonl", folder / "b.log"};
  wanted.runs = runs_;
  wanted.needs_records = flags_.needs_steps();
  wanted.seed = flags_.seed();
  wanted.deadline = to_milliseconds(timeout_s_);
  const measure::AlternationEnd end = measure::alternate(wanted);
  fmt::print(stderr,
             "records: {}, {}\n",
             wanted.sides[0].records,
             wanted.sides[1].records);
  int code = 0;
  if (end.complete_runs > 0) {
    const DiffFlags::Side a = side_of(wanted.sides[0]);
    const DiffFlags::Side b = side_of(wanted.sides[1]);
    code = flags_.show(a, b);
  }
  if (!end.failure.empty()) {
    throw WorldError(end.failure);
  }
  return end.stop_signal != 0 ? 128 + end.stop_signal : code;
}

}  // namespace paceline::cli
