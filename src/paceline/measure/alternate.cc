// SPDX-License-Identifier: Apache-2.0
#include "paceline/measure/alternate.h"

#include <array>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "paceline/base/clock.h"
#include "paceline/base/error.h"
#include "paceline/base/file.h"
#include "paceline/base/process.h"
#include "paceline/base/random.h"
#include "paceline/base/shell.h"
#include "paceline/base/spawn.h"
#include "paceline/base/text.h"
#include "paceline/launch/child_exit.h"
#include "paceline/measure/failure_reason.h"
#include "paceline/measure/own_runs.h"
#include "paceline/measure/results.h"
#include "paceline/records/environment.h"
#include "paceline/records/same_run.h"
#include "paceline/records/store.h"
#include "paceline/report/wall_time.h"

namespace paceline::measure {
namespace {

namespace fs = std::filesystem;
using records::RunRecord;

// Commands that were asked to end may finish their step.
constexpr std::chrono::seconds kCommandStopGrace{30};
constexpr std::string_view kPlaceholder = "{records}";

// The words with the file's path in place of {records}.
std::vector<std::string> with_records(std::vector<std::string> words,
                                      const std::string& path) {
  for (std::string& word : words) {
    for (std::size_t at = word.find(kPlaceholder); at != std::string::npos;
         at = word.find(kPlaceholder, at + path.size())) {
      word.replace(at, kPlaceholder.size(), path);
    }
  }
  return words;
}

class Alternating {
 public:
  explicit Alternating(const Alternation& wanted) : wanted_(wanted) {
    for (const Alternation::Side& side : wanted.sides) {
      writers_.push_back(std::make_unique<records::RecordWriter>(side.records));
    }
    host_ = records::collect_host();
    shuffle_firsts();
  }

  AlternationEnd run() {
    for (int run = 0; run < wanted_.runs; ++run) {
      const std::size_t first = firsts_[static_cast<std::size_t>(run)];
      for (const std::size_t side : {first, 1 - first}) {
        if (!measure(side, run)) {
          return end_;
        }
      }
      ++end_.complete_runs;
      check_kinds();
    }
    return end_;
  }

 private:
  // In random order, each side equally often (but for one run of an odd
  // number): what going first costs falls on both.
  void shuffle_firsts() {
    Random random(wanted_.seed);
    const std::size_t odd = random.below(2);
    for (int run = 0; run < wanted_.runs; ++run) {
      firsts_.push_back((static_cast<std::size_t>(run) + odd) % 2);
    }
    shuffle(std::span(firsts_), random);
  }

  // Whether to go on.
  bool measure(std::size_t number, int run) {
    const Alternation::Side& side = wanted_.sides[number];
    const std::string left = fs::absolute(side.records).string() + ".part";
    fs::remove(left);
    const std::string started_at = utc_now();
    fmt::print(
        stderr, "run {} of {}: {} ...", run + 1, wanted_.runs, side.name);
    std::fflush(stderr);
    const Stopwatch watch;
    const launch::ChildExit ending = launch::wait_for_child(
        start(side, left), signals_, wanted_.deadline, kCommandStopGrace);
    const std::int64_t wall_ns = watch.elapsed_ns();
    fmt::print(stderr, " {:.1f} s\n", static_cast<double>(wall_ns) / 1e9);
    end_.stop_signal = ending.stop_signal;
    const bool failed = ending.exit_code != 0 || ending.timed_out;
    std::vector<RunRecord> records = take_records(left);
    left_records_[number] = !records.empty();
    if (records.empty() && !failed && ending.stop_signal == 0) {
      records.push_back(report::wall_time_record(
          shell_command(side.command), started_at, host_, wall_ns));
    }
    for (RunRecord& one : records) {
      if (one.run > 0) {
        one.adapter[records::kRunOfCommand] = fmt::to_string(one.run);
      }
      one.run = run;
      writers_[number]->append(one);
    }
    if (failed && ending.stop_signal == 0) {
      end_.failure = describe(side, run, ending);
    }
    return !failed && ending.stop_signal == 0;
  }

  // Records of one command cannot be compared with the other's wall time.
  void check_kinds() const {
    if (wanted_.needs_records && !left_records_[0] && !left_records_[1]) {
      throw UsageError(
          "--format ddp: neither command left records, and of a command's wall "
          "time PyTorch's diff.py has no layout; leave --format out");
    }
    if (left_records_[0] != left_records_[1]) {
      throw UsageError(fmt::format(
          "only {} left records, in the file that {{records}} or the variable "
          "{} names; of the other there is only its wall time",
          wanted_.sides[left_records_[0] ? 0 : 1].name,
          kRecordsVariable));
    }
  }

  pid_t start(const Alternation::Side& side, const std::string& left) const {
    Command command;
    command.executable = "/usr/bin/env";
    command.argv = {"env"};
    for (const std::string& word : with_records(side.command, left)) {
      command.argv.push_back(word);
    }
    command.environment = environment_with({{kRecordsVariable, left}});
    command.log = side.log;
    return spawn(command);
  }

  // What the command left; the file goes.
  static std::vector<RunRecord> take_records(const std::string& path) {
    if (!fs::exists(path)) {
      return {};
    }
    auto file = records::read_records(path, records::BrokenTail::kSkip);
    fs::remove(path);
    return std::move(file.records);
  }

  std::string describe(const Alternation::Side& side,
                       int run,
                       const launch::ChildExit& ending) const {
    const std::string said = failure_reason_in(side.log);
    const std::string how =
        ending.timed_out ? fmt::format("had not ended after {:g} s",
                                       to_seconds(wanted_.deadline))
        : ending.exit_code == 127
            ? "could not be started"
            : fmt::format("ended with exit code {}", ending.exit_code);
    return fmt::format("{} {} in run {}{} ({})",
                       side.name,
                       how,
                       run + 1,
                       said.empty() ? "" : ": " + said,
                       side.log);
  }

  const Alternation& wanted_;
  std::vector<std::size_t> firsts_;  // by run
  launch::SupervisorSignals signals_;
  std::vector<std::unique_ptr<records::RecordWriter>> writers_;
  records::HostEnvironment host_;
  std::array<bool, 2> left_records_{};  // in the run before
  AlternationEnd end_;
};

}  // namespace

AlternationEnd alternate(const Alternation& alternation) {
  return Alternating(alternation).run();
}

}  // namespace paceline::measure
