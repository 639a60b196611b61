// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "paceline/launch/signals.h"
#include "paceline/launch/supervise.h"

namespace paceline::launch {

/// The ranks to start on one host, as the process that starts the job tells the host agent there.
struct HostLaunch {
  std::string host;  // as the user named it
  int first_rank = 0;
  int ranks = 1;
  std::string executable;
  std::vector<std::string> argv;                 // of every rank
  std::map<std::string, std::string> variables;  // added to the environment
  /// And to the environment of each rank, in order; empty: nothing.
  std::vector<std::map<std::string, std::string>> rank_variables{};
  std::string folder;  // to work in, where it exists
};

/// One line of JSON, and back.  Throws UsageError for anything else.
std::string to_line(const HostLaunch& launch);
HostLaunch host_launch_from(std::string_view line);

/// Starts the ranks on this machine, each with its own RANK and LOCAL_RANK: the first rank at
/// least, and no more once `signals` hold one that ends the run, which `supervise` then handles.
/// Throws as `spawn` does.
std::vector<ChildProcess> start_ranks(const HostLaunch& launch, const SupervisorSignals& signals);

/// Whether `name` is this machine's: localhost, a loopback address, or what gethostname says, with
/// or without its domain.
bool is_this_host(std::string_view name);

}  // namespace paceline::launch
