// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace paceline::launch {

/// What a launch line needs to know.
struct LaunchShape {
  int hosts = 1;
  int ranks_per_host = 1;
  std::vector<std::string> argv;  // program first; without --ranks and
                                  // --print-launch
};

/// A shell command that starts the program on a cluster: `kind` is slurm,
/// mpirun or torchrun (else UsageError).  Where the launcher must be told the
/// hosts, or cannot tell the ranks of several hosts where to meet, the line
/// contains FIRST_HOST, HOST_2, ... for the user to replace.
std::string launch_line(const std::string& kind, const LaunchShape& shape);

/// One sentence that says what to replace in that line, or where to run it,
/// with its line break; empty where it can be run as it is.
std::string launch_note(const std::string& kind, const LaunchShape& shape);

/// `text` as one word of a POSIX shell.
std::string shell_word(const std::string& text);

}  // namespace paceline::launch
