// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace paceline::launch {

/// The processes that a launcher shall start.
struct LaunchShape {
  int hosts = 1;
  int ranks_per_host = 1;
  std::vector<std::string> argv;  // the program first; without --ranks and
                                  // --print-launch
  bool open_mpi = false;          // its ranks meet by Open MPI
};

struct LaunchLine {
  std::string command;  // for a shell, with its line break
  /// A sentence, with its line break, that says what to replace in the command or where to run it;
  /// empty where the command can be run as it is.
  std::string note;
};

/// What starts the program on a cluster; `kind` is slurm, mpirun or torchrun.  Where the launcher
/// must be given the hosts, or does not give the ranks of several hosts a rendezvous, the command
/// contains FIRST_HOST, HOST_2, ... for the user to replace.
LaunchLine launch_line(const std::string& kind, const LaunchShape& shape);

}  // namespace paceline::launch
