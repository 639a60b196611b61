// SPDX-License-Identifier: Apache-2.0
#include "paceline/launch/job_launch.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <tuple>
#include <utility>

#include <sys/socket.h>
#include <unistd.h>

#include "paceline/base/descriptor.h"
#include "paceline/base/error.h"
#include "paceline/base/process.h"
#include "paceline/base/program_place.h"
#include "paceline/base/shell.h"
#include "paceline/base/spawn.h"
#include "paceline/launch/host_agent.h"
#include "paceline/launch/host_launch.h"
#include "paceline/launch/listener.h"
#include "paceline/launch/mpi_manager.h"

namespace paceline::launch {
namespace {

/// Writes to the socket that is a host agent's stdin. Stops at an error, as the supervisor will see
/// that the agent has ended.
void send_all(const Descriptor& socket, const std::string& text) {
  for (std::size_t sent = 0; sent < text.size();) {
    const ssize_t n = send(socket.number(), text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
    if (n < 0 && errno != EINTR) {
      return;
    }
    sent += static_cast<std::size_t>(std::max<ssize_t>(n, 0));
  }
}

/// The least time that mpirun gets for its start on a busy machine, even if the job's timeout is
/// shorter.
constexpr std::chrono::milliseconds kMpirunStarts{10'000};

/// Starts the ranks of all hosts. Owns the sockets to remote hosts and the mpirun that serves local
/// ranks.
class RankStarter {
 public:
  RankStarter(const JobLaunch& job, std::string address, std::uint16_t port,
              const SupervisorSignals& signals)
      : job_(job),
        address_(std::move(address)),
        port_(port),
        name_(random_token()),
        // The link is resolved, as ps would show a process started by the link as "exe".
        executable_(job.executable.empty() ? program_path().string() : job.executable) {
    if (!job.mpirun.empty()) {
      PACELINE_CHECK_EQ(job.hosts.size(), 1U);
      mpi_.emplace(job.mpirun, job.hosts.front().ranks,
                   std::max(job.supervise.heartbeat_timeout, kMpirunStarts),
                   [&signals] { return signals.is_end_requested(); });
    }
  }

  const std::string& job_name() const { return name_; }

  std::optional<std::string> lost_mpirun() { return mpi_ ? mpi_->lost() : std::nullopt; }

  std::vector<ChildProcess> start(const SupervisorSignals& signals) {
    int world = 0;
    for (const HostRanks& host : job_.hosts) {
      world += host.ranks;
    }
    std::vector<ChildProcess> children;
    int first = 0;
    for (const HostRanks& host : job_.hosts) {
      const HostLaunch launch = host_launch_of(host, first, world);
      if (host.remote) {
        children.push_back(start_remote(launch));
      } else {
        const auto here = start_ranks(launch, signals);
        children.insert(children.end(), here.begin(), here.end());
      }
      first += host.ranks;
    }
    return children;
  }

 private:
  HostLaunch host_launch_of(const HostRanks& host, int first, int world) const {
    HostLaunch launch{.host = host.host,
                      .first_rank = first,
                      .ranks = host.ranks,
                      .executable = executable_,
                      .argv = host.argv,
                      .variables = job_.rank_variables,
                      .folder = std::filesystem::current_path().string()};
    if (host.remote) {
      launch.variables.insert(job_.variables.begin(), job_.variables.end());
    }
    if (mpi_) {
      launch.rank_variables = mpi_->variables();
    }
    launch.variables["MASTER_ADDR"] = address_;
    launch.variables["MASTER_PORT"] = std::to_string(port_);
    launch.variables[kLaunchVariable] = name_;
    launch.variables["WORLD_SIZE"] = std::to_string(world);
    launch.variables["LOCAL_WORLD_SIZE"] = std::to_string(host.ranks);
    if (job_.hosts.size() > 1) {
      launch.variables[kLaunchHostVariable] = host.host;
    }
    return launch;
  }

  // Starts the agent of a remote host. The description of the ranks goes through the agent's stdin,
  // so the remote shell only parses the program's name.
  ChildProcess start_remote(const HostLaunch& launch) {
    std::array<int, 2> ends{};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
      throw WorldError(fmt::format("no socket for host {}: {}", launch.host, std::strerror(errno)));
    }
    const Descriptor theirs(ends[1]);
    sockets_.emplace_back(ends[0]);
    Command command{"/usr/bin/env", {"env"}, environment_with({})};
    command.argv.insert(command.argv.end(), job_.ssh.begin(), job_.ssh.end());
    command.argv.push_back(launch.host);
    command.argv.push_back(fmt::format("exec {} {}", shell_word(executable_), kHostAgent));
    command.input = theirs.number();
    const pid_t pid = spawn(command);
    send_all(sockets_.back(), to_line(launch));
    return {.pid = pid,
            .first_rank = launch.first_rank,
            .ranks = launch.ranks,
            .host = launch.host,
            .name = job_.ssh.front(),
            .control_socket = sockets_.back().number()};
  }

  const JobLaunch& job_;
  std::string address_;
  std::uint16_t port_;
  std::string name_, executable_;
  std::optional<MpiManager> mpi_;
  std::vector<Descriptor> sockets_;
};

/// The outcome of a job that was asked to stop before its ranks were started. Consumes the pending
/// signals, which would end this process once they are unblocked.
Outcome stopped_by(const SupervisorSignals& signals) {
  Outcome outcome;
  while (const int signal = signals.wait(std::chrono::milliseconds(0))) {
    if (signal != SIGCHLD && outcome.stop_signal == 0) {
      outcome.stop_signal = signal;
    }
  }
  return outcome;
}

}  // namespace

Outcome launch_job(const JobLaunch& job) {
  PACELINE_CHECK(!job.hosts.empty());
  const bool far = std::ranges::any_of(job.hosts, &HostRanks::remote);
  PACELINE_CHECK(!far || !job.ssh.empty());
  const SupervisorSignals signals;  // must exist before the store's threads
  const std::string where = far ? job.address : "127.0.0.1";
  const auto listener = listen_at(where, job.port);
  if (!listener) {
    throw UsageError(fmt::format("--rendezvous {}: is no IPv4 address of this machine", where));
  }
  RankStarter starter(job, where, listener->port, signals);
  if (signals.is_end_requested()) {
    return stopped_by(signals);
  }
  const auto store = job.serve_store(starter.job_name(), listener->fd, listener->port);
  store->set(kServedKey, "1");
  if (job.before) {
    job.before(*store);
  }
  const auto children = starter.start(signals);
  SuperviseOptions options = job.supervise;
  options.lost = [&starter] { return starter.lost_mpirun(); };
  const Outcome outcome = supervise(children, *store, signals, options);
  if (job.after) {
    job.after(*store, outcome);
  }
  return outcome;
}

}  // namespace paceline::launch
