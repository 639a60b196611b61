// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <sys/types.h>

namespace paceline::launch {

struct Command {
  std::string executable;                // a path
  std::vector<std::string> argv;         // argv[0] included
  std::vector<std::string> environment;  // NAME=value, all of it
  std::string log{};  // a file that takes what it prints; empty: where ours go
  int input = -1;     // a descriptor that becomes its stdin; -1: an empty one
};

/// Starts a child in a process group of its own, with no signal
/// blocked, that the kernel kills when the calling thread ends: no
/// orphan survives whatever happens to us.  Call it from the thread that lives
/// longest.  Throws WorldError where the process cannot be made; a command that
/// cannot be executed exits with 127.
pid_t spawn(const Command& command);

}  // namespace paceline::launch
