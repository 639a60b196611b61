// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "paceline/launch/child_exit.h"
#include "paceline/launch/signals.h"

namespace paceline::front {

/// Runs this very program with other arguments, one run after the other, and leaves no process
/// behind, whatever ends us.  Must be made before any other thread of the process.
class OwnRuns {
 public:
  /// What a run prints goes to the file `log`, in place of what the run before did.
  explicit OwnRuns(std::string log) : log_(std::move(log)) {}

  /// Ends at `deadline`, and at a signal to us; `stop_signal` then has it.
  launch::ChildExit run(const std::vector<std::string>& arguments,
                        std::chrono::milliseconds deadline);

  /// Why the last run failed: the last line that it printed, else its code.
  std::string last_output_line() const;

 private:
  std::string log_;
  launch::ChildExit last_;
  launch::SupervisorSignals signals_;
};

/// The last line of a log that holds anything; empty where there is none.
std::string last_line(const std::string& log);

}  // namespace paceline::front
