// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace paceline::launch {

/// The processes that a launcher is to start.
struct LaunchShape {
  int hosts = 1;
  int ranks_per_host = 1;
  std::vector<std::string> argv;  // the program first; without --ranks and
                                  // --print-launch
  bool open_mpi = false;          // whether the ranks meet through Open MPI
};

struct LaunchLine {
  std::string command;  // a shell command with a final line break
  /// A sentence, with a final line break, that says what to replace in the command or where to run
  /// it. Empty if the command can be run as it is.
  std::string note;
};

/// Returns the command line that starts the program on a cluster; `kind` is slurm, mpirun or
/// torchrun. The command contains placeholders (FIRST_HOST, HOST_2, ...), which the user must
/// replace, if the launcher must be given the hosts, or if it does not give the ranks of several
/// hosts a rendezvous.
LaunchLine launch_line(const std::string& kind, const LaunchShape& shape);

}  // namespace paceline::launch
