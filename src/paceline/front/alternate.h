// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace paceline::front {

/// Two commands that are to be run alternately, and how.
struct Alternation {
  struct Side {
    std::string name;                  // A or B
    std::vector<std::string> command;  // looked up in PATH; may begin with NAME=value
    std::string records;               // the file that collects its records
    std::string log;                   // the file that gets all of its output
    /// Shell commands that run before and after each run, outside its measured time.  `cleanup`
    /// also runs after a run that failed or was stopped.  Empty: none.
    std::string prepare{}, cleanup{};
  };
  Side sides[2];
  int runs = 6;  // per side; at most this many if `is_enough` may end them earlier
  /// Called after each complete run of both sides; returns whether to end.  Null: all runs are
  /// performed.
  std::function<bool()> is_enough{};
  bool needs_records = false;  // whether wall times without records are rejected
  std::uint64_t seed = 0;
  std::chrono::milliseconds deadline{3'600'000};  // the time limit of one command
};

/// How an alternation of two commands ended.
struct AlternationEnd {
  int complete_runs = 0;  // runs that both sides completed
  int stop_signal = 0;    // the signal that told this process to stop; 0: none
  std::string failure;    // why a command ended the alternation, in one sentence
};

/// Runs both commands `runs` times in turns.  Which of them comes first in a run is random, but
/// each does so equally often; with `is_enough`, once in every two runs.  A command finds a file
/// for its records in the variable PACELINE_RECORDS and wherever its words contain {records}.  The
/// records that it leaves there are appended to the side's file as run 0, 1, ...  If a command
/// leaves none, the operations are taken from the table that it printed (nccl-tests), else its wall
/// time as the one step of a run.
///
/// A command that fails, including `prepare` and `cleanup`, or that exceeds its deadline ends the
/// alternation, and so does a signal; what was measured until then is in the files.  Throws
/// UsageError if only one of the two leaves records, or if neither does and records are needed.
AlternationEnd alternate(const Alternation& alternation);

}  // namespace paceline::front
