// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <sys/types.h>

#include "paceline/base/descriptor.h"

namespace paceline {

/// A child process to start.
struct Command {
  std::string executable;                // a path, or a name to look up in PATH
  std::vector<std::string> argv;         // argv[0] included
  std::vector<std::string> environment;  // NAME=value; the whole environment
  std::string log{};                     // file for stdout and stderr; empty: `output`, `error`
  int input = -1;                        // descriptor of stdin; -1: an empty one
  int output = -1;                       // descriptor of stdout; -1: this process's
  int error = -1;                        // descriptor of stderr; -1: this process's
  /// Whether the child leads its own process group.  A child in this process's group ignores
  /// SIGINT, which a terminal sends to the whole group.
  bool leads_process_group = true;
};

/// Starts a child with no signal blocked.  The kernel kills the child when the calling thread ends,
/// so that no orphan remains whatever happens to this process; so the thread that lives longest
/// should call this.  May be called while other threads run.  Throws WorldError if the child cannot
/// be started, or the executable cannot be run.
pid_t spawn(const Command& command);

/// Opens the log file for a child's output, with additional `flags` for open(2).  Opens nothing if
/// the path is empty.  Throws WorldError.
Descriptor open_log(const std::string& path, int flags = 0);

/// Returns the exit code in a status of waitpid: 128 + signal for a killed process.
int exit_code_of(int status);

}  // namespace paceline
