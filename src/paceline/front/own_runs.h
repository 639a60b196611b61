// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "paceline/launch/child_exit.h"
#include "paceline/launch/signals.h"

namespace paceline::front {

/// Runs this program itself with other arguments, one run after the other.  It leaves no process
/// behind, however this process ends.  Must be made before the process has any other thread.
class OwnRuns {
 public:
  /// The output of a run goes to the file `log`, where it replaces that of the previous run.
  explicit OwnRuns(std::string log) : log_(std::move(log)) {}

  /// Ends the run at `deadline` or when this process gets a signal, which is then `stop_signal`.
  launch::ChildExit run(const std::vector<std::string>& arguments,
                        std::chrono::milliseconds deadline);

  /// Returns why the last run failed: the last line that it printed, else its exit code.
  std::string last_output_line() const;

 private:
  std::string log_;
  launch::ChildExit last_;
  launch::SupervisorSignals signals_;
};

/// Returns the last line of a log that is not blank; empty if there is none.
std::string last_line(const std::string& log);

}  // namespace paceline::front
