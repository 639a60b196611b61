// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "paceline/launch/board.h"
#include "paceline/launch/supervise.h"

namespace paceline::engines {

/// The ranks of one host.
struct HostRanks {
  std::string host;  // as the user names it
  int ranks = 1;
  bool remote = false;            // started by LocalLaunch::ssh
  std::vector<std::string> argv;  // of every rank there
  std::string order{};  // a text whose path follows argv as --order PATH
};

struct LocalLaunch {
  int ranks = 1;
  std::string executable{};  // empty: this very program
  std::vector<std::string> argv{};
  launch::Patience patience{};
  /// Called before the ranks start and after they have ended: what they shall
  /// find on their board, and what of it is to be kept.
  std::function<void(launch::Board&)> prepare{}, conclude{};

  /// Instead of `ranks` and `argv`: the hosts, in rank order.
  std::vector<HostRanks> hosts{};
  /// Where remote hosts reach this machine; port 0: the kernel picks one.
  std::string address{};
  std::uint16_t port = 0;
  /// The command that takes a host's name and a line for a shell there.
  std::vector<std::string> ssh{};
  /// NAME=value of ours that remote ranks get too.
  std::map<std::string, std::string> variables{};
};

/// Starts the ranks and stays with them until the last one has ended:
/// `paceline run --ranks N`, `paceline run -H a:4,b:4`.
///
/// The ranks' store lives in this process, so no rank's death takes it away: on
/// the loopback at a port that the kernel picks, or, where there are remote
/// hosts, on all interfaces.  On a remote host this program runs once as
/// `attend_ranks` (engines/host_agent.h) and starts the ranks there.  Must be
/// called before the process has other threads, by its main thread (see
/// launch/spawn.h).
launch::Outcome launch_local(const LocalLaunch& local);

/// Throws UsageError where this host's memory cannot hold so many ranks even
/// before they have a model.
void require_memory_for(int ranks, const std::string& host);

}  // namespace paceline::engines
