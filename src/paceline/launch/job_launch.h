// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "paceline/launch/detect_launch.h"
#include "paceline/launch/key_value_store.h"
#include "paceline/launch/supervise.h"

namespace paceline::launch {

/// Serves the store of the job called `job` over `listening`, a socket that listens at `port`. The
/// store closes the socket.
using ServeStore = std::function<std::shared_ptr<KeyValueStore>(const std::string& job,
                                                                int listening, std::uint16_t port)>;

/// Opens the store at the rendezvous of a launch.
using OpenStore = std::function<std::shared_ptr<KeyValueStore>(const Launch& launch,
                                                               std::chrono::milliseconds timeout)>;

/// The ranks of one host.
struct HostRanks {
  std::string host;  // name of the host as the user gave it
  int ranks = 1;
  bool remote = false;            // the ranks are started through JobLaunch::ssh
  std::vector<std::string> argv;  // command line of every rank on this host
};

struct JobLaunch {
  std::vector<HostRanks> hosts;  // in rank order
  ServeStore serve_store;
  SuperviseOptions supervise{};
  std::string executable{};  // empty: this program
  /// The mpirun that serves the ranks (launch/mpi_manager.h), all of which must be on this machine;
  /// empty: none.
  std::string mpirun{};
  /// Called before the ranks start, to set the keys that they read. The store exists until `after`
  /// returns.
  std::function<void(KeyValueStore&)> before{};
  /// Called after the ranks have ended, to save what they wrote to the store.
  std::function<void(KeyValueStore&, const Outcome&)> after{};

  /// This machine's address for remote hosts, and the port of the store. With port 0 the kernel
  /// chooses one.
  std::string address{};
  std::uint16_t port = 0;
  /// The command that runs a shell command on a host. The host's name and the shell command are
  /// appended.
  std::vector<std::string> ssh{};
  /// Environment variables of this process that ranks on remote hosts get too.
  std::map<std::string, std::string> variables{};
  /// Environment variables of all ranks, which replace existing ones of these names.
  std::map<std::string, std::string> rank_variables{};
};

/// Starts the ranks and supervises them until the last one has ended: `paceline run --ranks N`,
/// `paceline run -H a:4,b:4`.
///
/// This process serves the store, so that the store survives the death of any rank. It listens on
/// the loopback or, if there are remote hosts, at `address`. The job's name is a random token,
/// which only its ranks are given. On each remote host this program runs once as the host agent
/// (launch/host_agent.h), which starts the ranks there. Must be called by the main thread before
/// the process has other threads (see base/spawn.h).
Outcome launch_job(const JobLaunch& job);

}  // namespace paceline::launch
