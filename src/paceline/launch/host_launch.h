// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "paceline/launch/signals.h"
#include "paceline/launch/supervise.h"

namespace paceline::launch {

/// The description of the ranks to start on one host. The process that starts the job sends this to
/// the host agent there.
struct HostLaunch {
  std::string host;  // name of the host as the user gave it
  int first_rank = 0;
  int ranks = 1;
  std::string executable;
  std::vector<std::string> argv;                 // command line of every rank
  std::map<std::string, std::string> variables;  // added to the environment of every rank
  /// Variables that are added to the environment of each single rank, in rank order; empty: none.
  std::vector<std::map<std::string, std::string>> rank_variables{};
  std::string folder;  // working directory, if it exists
};

/// These functions convert a HostLaunch to one line of JSON and back. host_launch_from() throws
/// UsageError for any other line.
std::string to_line(const HostLaunch& launch);
HostLaunch host_launch_from(std::string_view line);

/// Starts the ranks on this machine, each with its own RANK and LOCAL_RANK. Always starts the first
/// rank. Starts no further rank once `signals` holds a signal that ends the run, which `supervise`
/// then handles. Throws as `spawn` does.
std::vector<ChildProcess> start_ranks(const HostLaunch& launch, const SupervisorSignals& signals);

/// Whether `name` names this machine: it is localhost, a loopback address, or the result of
/// gethostname() with or without its domain.
bool is_this_host(std::string_view name);

}  // namespace paceline::launch
