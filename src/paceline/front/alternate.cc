// SPDX-License-Identifier: Apache-2.0
#include "paceline/front/alternate.h"

#include <array>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "paceline/base/clock.h"
#include "paceline/base/error.h"
#include "paceline/base/file.h"
#include "paceline/base/process.h"
#include "paceline/base/random.h"
#include "paceline/base/shell.h"
#include "paceline/base/spawn.h"
#include "paceline/base/text.h"
#include "paceline/front/results.h"
#include "paceline/launch/child_exit.h"
#include "paceline/records/environment.h"
#include "paceline/records/json.h"
#include "paceline/records/readers.h"
#include "paceline/records/same_run.h"
#include "paceline/records/store.h"
#include "paceline/report/operations.h"

namespace paceline::front {
namespace {

namespace fs = std::filesystem;
using records::RunRecord;

// Commands that were asked to end have this time to finish their step.
constexpr std::chrono::seconds kCommandStopGrace{30};
constexpr std::string_view kRecordsPlaceholder = "{records}";

// Returns the words, in which `path` replaces each {records}.
std::vector<std::string> fill_records_placeholder(std::vector<std::string> words,
                                                  const std::string& path) {
  for (std::string& word : words) {
    for (std::size_t at = word.find(kRecordsPlaceholder); at != std::string::npos;
         at = word.find(kRecordsPlaceholder, at + path.size())) {
      word.replace(at, kRecordsPlaceholder.size(), path);
    }
  }
  return words;
}

// Returns the allowed variables that a command's leading NAME=value words set, and those that it
// inherits.
std::map<std::string, std::string> variables_of(const std::vector<std::string>& command) {
  std::map<std::string, std::string> variables = records::allowed_variables(environ);
  for (const std::string& word : command) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos) {
      break;  // the word is the command itself
    }
    const std::string name = word.substr(0, equals);
    const std::string value = word.substr(equals + 1);
    if (records::is_allowed_variable(name, value)) {
      variables[name] = value;
    }
  }
  return variables;
}

class AlternationRunner {
 public:
  explicit AlternationRunner(const Alternation& wanted) : wanted_(wanted) {
    for (const Alternation::Side& side : wanted.sides) {
      writers_.push_back(std::make_unique<records::RecordWriter>(side.records, std::nullopt));
    }
    host_ = records::collect_host();
    shuffle_first_sides();
  }

  AlternationEnd run() {
    for (int run = 0; run < wanted_.runs; ++run) {
      const std::size_t first = first_side_of_run_[static_cast<std::size_t>(run)];
      for (const std::size_t side : {first, 1 - first}) {
        if (!measure(side, run)) {
          return end_;
        }
      }
      ++end_.complete_runs;
      check_record_kinds();
      if (wanted_.is_enough && wanted_.is_enough()) {
        break;
      }
    }
    return end_;
  }

 private:
  // Chooses at random which side runs first in each run. Each side runs first equally often (up to
  // one run of an odd number), so that a disadvantage of running first affects both equally. If
  // runs may end early, each pair of consecutive runs has both orders.
  void shuffle_first_sides() {
    Random random(wanted_.seed);
    std::size_t odd = random.below(2);
    for (int run = 0; run < wanted_.runs; ++run) {
      odd = wanted_.is_enough && run % 2 == 0 ? random.below(2) : odd;
      first_side_of_run_.push_back((static_cast<std::size_t>(run) + odd) % 2);
    }
    if (!wanted_.is_enough) {
      shuffle(std::span(first_side_of_run_), random);
    }
  }

  // Runs a side's shell command of --prepare or --cleanup, which is named by `flag`. Returns
  // whether the comparison should continue.
  bool run_side_command(const Alternation::Side& side, std::string_view flag,
                        const std::string& text, int run) {
    if (text.empty()) {
      return true;
    }
    const launch::ChildExit ending = launch::wait_for_child(
        start({"sh", "-c", text}, side.log, ""), signals_, wanted_.deadline, kCommandStopGrace);
    return go_on_after(ending, fmt::format("{} of {}", flag, side.name), side.log, run);
  }

  // Returns whether the comparison should continue after a command has ended. If not, stores the
  // reason, unless an earlier one is stored.
  bool go_on_after(const launch::ChildExit& ending, const std::string& name, const std::string& log,
                   int run) {
    const bool failed = ending.exit_code != 0 || ending.timed_out;
    const bool stopped = ending.stop_signal != 0;
    if (end_.stop_signal == 0 && end_.failure.empty()) {
      end_.stop_signal = ending.stop_signal;
      end_.failure = failed && !stopped ? describe(name, log, run, ending) : "";
    }
    return !failed && !stopped;
  }

  // Runs one side once and stores its records. Returns whether the comparison should continue. The
  // cleanup command also runs after a run that failed, was stopped or left unreadable records.
  bool measure(std::size_t number, int run) {
    const Alternation::Side& side = wanted_.sides[number];
    const auto clean_up = [&] { return run_side_command(side, "--cleanup", side.cleanup, run); };
    bool measured = false;
    try {
      measured =
          run_side_command(side, "--prepare", side.prepare, run) && measure_command(number, run);
    } catch (const std::exception&) {
      clean_up();
      throw;
    }
    return clean_up() && measured;
  }

  bool measure_command(std::size_t number, int run) {
    const Alternation::Side& side = wanted_.sides[number];
    const std::string left = fs::absolute(side.records).string() + ".part";
    fs::remove(left);
    const std::uintmax_t logged = fs::exists(side.log) ? fs::file_size(side.log) : 0;
    const std::string started_at = utc_now();
    fmt::print(stderr, "run {} of {}{}: {} ...", run + 1, wanted_.is_enough ? "at most " : "",
               wanted_.runs, side.name);
    std::fflush(stderr);
    const Stopwatch watch;
    const launch::ChildExit ending =
        launch::wait_for_child(start(fill_records_placeholder(side.command, left), side.log, left),
                               signals_, wanted_.deadline, kCommandStopGrace);
    const std::int64_t wall_ns = watch.elapsed_ns();
    fmt::print(stderr, " {:.1f} s\n", static_cast<double>(wall_ns) / 1e9);
    const bool ended_well = go_on_after(ending, side.name, side.log, run);
    records::ForeignRecords found = take_records(left);
    if (found.empty() && ended_well) {
      found.operations = printed_operations(side, logged, started_at);
    }
    left_records_[number] = !found.empty();
    if (found.empty() && ended_well) {
      found.runs.push_back(wall_time_of(side, started_at, wall_ns));
    }
    keep(number, run, found);
    return ended_well;
  }

  // Throws UsageError if only one side left records, because they cannot be compared with a wall
  // time, or if records are needed and neither side left any.
  void check_record_kinds() const {
    if (wanted_.needs_records && !left_records_[0] && !left_records_[1]) {
      throw UsageError(
          "--format ddp: neither command left records, and of a command's wall time PyTorch's "
          "diff.py has no layout; leave --format out");
    }
    if (left_records_[0] != left_records_[1]) {
      throw UsageError(
          fmt::format("only {} left records, in the file that {{records}} or the variable {} "
                      "names; of the other there is only its wall time",
                      wanted_.sides[left_records_[0] ? 0 : 1].name, kRecordsVariable));
    }
  }

  // Starts a command.  `left` is the file for its records; empty: none.
  static pid_t start(const std::vector<std::string>& words, const std::string& log,
                     const std::string& left) {
    Command command;
    command.executable = "/usr/bin/env";
    command.argv = {"env"};
    command.argv.insert(command.argv.end(), words.begin(), words.end());
    command.environment =
        left.empty() ? environment_with({}) : environment_with({{kRecordsVariable, left}});
    command.log = log;
    return spawn(command);
  }

  // Returns the records that the command left, and removes their file.
  static records::ForeignRecords take_records(const std::string& path) {
    records::ForeignRecords found;
    if (!fs::exists(path)) {
      return found;
    }
    records::FileContents file = records::read_paceline_file(read_text(path), path);
    fs::remove(path);
    found.runs = std::move(file.runs);
    found.operations = std::move(file.operations);
    return found;
  }

  // Returns the operations of the nccl-tests table after the first `logged` bytes of the log.
  static std::vector<records::CommRecord> printed_operations(const Alternation::Side& side,
                                                             std::uintmax_t logged,
                                                             const std::string& started_at) {
    const std::string text = read_text_if_readable(side.log).value_or("").substr(logged);
    if (text.find("algbw") == std::string::npos || text.find("busbw") == std::string::npos) {
      return {};
    }
    const std::string part = side.log + ".part";
    write_atomically(part, text);
    auto found = records::read_foreign_if_known({part}).operations;
    fs::remove(part);
    for (records::CommRecord& one : found) {
      one.started_at = started_at;
      one.environment.variables = variables_of(side.command);
    }
    return found;
  }

  RunRecord wall_time_of(const Alternation::Side& side, const std::string& started_at,
                         std::int64_t wall_ns) const {
    RunRecord one =
        report::wall_time_record(shell_command(side.command), started_at, host_, wall_ns);
    one.environment.variables = variables_of(side.command);
    return one;
  }

  // Appends the records of a run to the side's file.
  void keep(std::size_t number, int run, records::ForeignRecords& found) {
    for (RunRecord& one : found.runs) {
      if (one.run > 0) {
        one.adapter[records::kRunOfCommand] = fmt::to_string(one.run);
      }
      one.run = run;
      writers_[number]->append(one);
    }
    for (const records::CommRecord& one : found.operations) {
      writers_[number]->append_line(records::to_line(records::to_json(one, one.environment)));
    }
  }

  std::string describe(const std::string& name, const std::string& log, int run,
                       const launch::ChildExit& ending) const {
    const std::string said = records::failure_reason_in(log);
    const std::string how =
        ending.timed_out ? fmt::format("had not ended after {:g} s", to_seconds(wanted_.deadline))
        : ending.exit_code == 127 ? "could not be started"
                                  : fmt::format("ended with exit code {}", ending.exit_code);
    return fmt::format("{} {} in run {}{} ({})", name, how, run + 1,
                       said.empty() ? "" : ": " + said, log);
  }

  const Alternation& wanted_;
  std::vector<std::size_t> first_side_of_run_;  // the side that comes first, by run
  launch::SupervisorSignals signals_;
  std::vector<std::unique_ptr<records::RecordWriter>> writers_;
  records::HostEnvironment host_;
  std::array<bool, 2> left_records_{};  // whether the last run left records, by side
  AlternationEnd end_;
};

}  // namespace

AlternationEnd alternate(const Alternation& alternation) {
  return AlternationRunner(alternation).run();
}

}  // namespace paceline::front
