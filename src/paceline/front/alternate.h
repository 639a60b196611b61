// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace paceline::front {

/// Two commands to be run in turns.
struct Alternation {
  struct Side {
    std::string name;                  // A, B
    std::vector<std::string> command;  // looked up in PATH; NAME=value first
    std::string records;               // the file that gathers its records
    std::string log;                   // takes all that it prints
    /// Commands of a shell before and after each run, outside of its time, the latter also after a
    /// run that failed or was stopped; empty: none.
    std::string prepare{}, cleanup{};
  };
  Side sides[2];
  int runs = 6;  // a side; the most, where `is_enough` may end them earlier
  /// Asked after each complete run of both sides; null: all runs are taken.
  std::function<bool()> is_enough{};
  bool needs_records = false;  // wall times alone are rejected
  std::uint64_t seed = 0;
  std::chrono::milliseconds deadline{3'600'000};  // of one command
};

/// How an alternation ended.
struct AlternationEnd {
  int complete_runs = 0;  // of both sides
  int stop_signal = 0;    // we were told to stop by it
  std::string failure;    // why a command ended it, in one sentence
};

/// Runs both commands `runs` times in turns; which of them comes first is
/// drawn anew for each run, of runs that may end early for each two of them.  A command finds a
/// file for its records in the variable PACELINE_RECORDS and wherever its words say {records};
/// those that it leaves are appended to the side's file as run 0, 1, ...  From a command that
/// leaves none, the operations are taken whose table (nccl-tests) it printed, else its wall time as
/// the one step of a run.
///
/// A command that fails, one of `prepare` or `cleanup` among them, or that passes its deadline,
/// ends the alternation, and so
/// does a signal; what was measured until then is in the files.  Throws UsageError where only one
/// of the two leaves records, or none and records
/// are needed.
AlternationEnd alternate(const Alternation& alternation);

}  // namespace paceline::front
