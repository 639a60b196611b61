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
  std::vector<std::string> environment;  // NAME=value, all of it
  std::string log{};                     // a file that takes stdout and stderr; empty: see below
  int input = -1;                        // descriptor of stdin; -1: an empty one
  int output = -1;                       // descriptor of stdout; -1: this process's
  int error = -1;                        // descriptor of stderr; -1: this process's
  /// Whether the child leads a process group of its own.  A child in this process's group ignores
  /// SIGINT, which the terminal sends to all of it.
  bool own_group = true;
};

/// Starts a child with no signal blocked, which the kernel kills when the calling thread ends, so
/// that no orphan survives whatever happens to this process.  Call it from the thread that lives
/// longest.  Safe after threads have started.  Throws WorldError where the child cannot be started,
/// or the executable cannot be run.
pid_t spawn(const Command& command);

/// The file that takes what a child writes; no path: none.  `flags` of open(2) are added.  Throws
/// WorldError.
Descriptor open_log(const std::string& path, int flags = 0);

/// The exit code in a status of waitpid: 128 + signal of a killed process.
int exit_code_of(int status);

}  // namespace paceline
