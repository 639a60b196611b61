// SPDX-License-Identifier: Apache-2.0
#include "paceline/engines/local_launch.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <tuple>
#include <utility>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "paceline/base/clock.h"
#include "paceline/base/error.h"
#include "paceline/base/process.h"
#include "paceline/engines/host_agent.h"
#include "paceline/engines/job_store.h"
#include "paceline/launch/host_order.h"
#include "paceline/launch/launch_line.h"
#include "paceline/launch/place.h"
#include "paceline/launch/spawn.h"

namespace paceline::engines {
namespace {

// A socket that listens on the loopback, or on all interfaces, and its port.
std::tuple<int, std::uint16_t> listen_for_ranks(bool far, std::uint16_t port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(far ? INADDR_ANY : INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  const int reuse = 1;
  if (fd < 0 ||
      setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &reuse, sizeof reuse) != 0 ||
      bind(fd, generic, length) != 0 || listen(fd, SOMAXCONN) != 0 ||
      getsockname(fd, generic, &length) != 0) {
    const int error = errno;
    if (error == EADDRINUSE && port != 0) {
      throw UsageError(fmt::format(
          "--rendezvous: port {} is taken on this host; choose another", port));
    }
    throw WorldError(
        fmt::format("no port for the ranks' store: {}", std::strerror(error)));
  }
  return {fd, ntohs(address.sin_port)};
}

/// A host's control socket, closed with us.
class Control {
 public:
  explicit Control(int fd) : fd_(fd) {}
  ~Control() {
    if (fd_ >= 0) {
      close(fd_);
    }
  }
  Control(Control&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Control& operator=(Control&&) = delete;
  Control(const Control&) = delete;
  Control& operator=(const Control&) = delete;

  int fd() const { return fd_; }

  /// As much as the other end takes; one that is gone is seen by its death.
  void write(const std::string& text) const {
    for (std::size_t sent = 0; sent < text.size();) {
      const ssize_t n =
          send(fd_, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
      if (n < 0 && errno != EINTR) {
        return;
      }
      sent += static_cast<std::size_t>(std::max<ssize_t>(n, 0));
    }
  }

 private:
  int fd_;
};

/// All that is started, and what must outlive it.
class Starting {
 public:
  Starting(const LocalLaunch& launch, std::uint16_t port)
      : launch_(launch),
        port_(port),
        job_(fmt::format("{}-{}", getpid(), steady_ns())),
        // By its own name, because "exe" is what ps would show for the link.
        executable_(
            launch.executable.empty()
                ? std::filesystem::read_symlink("/proc/self/exe").string()
                : launch.executable) {}

  const std::string& job() const { return job_; }

  std::vector<launch::Watched> start(const std::vector<HostRanks>& hosts,
                                     const launch::SupervisorSignals& signals) {
    int world = 0;
    for (const HostRanks& host : hosts) {
      world += host.ranks;
    }
    std::vector<launch::Watched> children;
    int first = 0;
    for (const HostRanks& host : hosts) {
      const launch::HostOrder order =
          order_of(host, first, world, hosts.size() > 1);
      if (host.remote) {
        children.push_back(start_remote(order));
      } else {
        const auto& watched = here_.emplace_back(order, signals).watched();
        children.insert(children.end(), watched.begin(), watched.end());
      }
      first += host.ranks;
    }
    return children;
  }

 private:
  launch::HostOrder order_of(const HostRanks& host,
                             int first,
                             int world,
                             bool named) const {
    launch::HostOrder order{.host = host.host,
                            .first_rank = first,
                            .ranks = host.ranks,
                            .executable = executable_,
                            .argv = host.argv,
                            .order = host.order,
                            .variables = {},
                            .folder = std::filesystem::current_path().string()};
    if (host.remote) {
      order.variables = launch_.variables;
    }
    order.variables["MASTER_ADDR"] =
        launch_.address.empty() ? "127.0.0.1" : launch_.address;
    order.variables["MASTER_PORT"] = std::to_string(port_);
    order.variables[launch::kLaunchMarker] = job_;
    order.variables["WORLD_SIZE"] = std::to_string(world);
    order.variables["LOCAL_WORLD_SIZE"] = std::to_string(host.ranks);
    if (named) {
      order.variables[launch::kLaunchHost] = host.host;
    }
    return order;
  }

  // What the host's process is to do goes through its stdin, so nothing but the
  // program's name is for a shell to read; the end of stdin is its end.
  launch::Watched start_remote(const launch::HostOrder& order) {
    std::array<int, 2> ends{};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
      throw WorldError(fmt::format(
          "no socket for host {}: {}", order.host, std::strerror(errno)));
    }
    const Control theirs(ends[1]);
    controls_.emplace_back(ends[0]);
    launch::Command command{"/usr/bin/env", {"env"}, environment_with({})};
    command.argv.insert(
        command.argv.end(), launch_.ssh.begin(), launch_.ssh.end());
    command.argv.push_back(order.host);
    command.argv.push_back(fmt::format(
        "exec {} {}", launch::shell_word(executable_), kAttendRanks));
    command.input = theirs.fd();
    const pid_t pid = launch::spawn(command);
    controls_.back().write(launch::to_line(order));
    return {.pid = pid,
            .first_rank = order.first_rank,
            .ranks = order.ranks,
            .host = order.host,
            .name = launch_.ssh.front(),
            .control = controls_.back().fd()};
  }

  const LocalLaunch& launch_;
  std::uint16_t port_;
  std::string job_, executable_;
  std::vector<launch::StartedRanks> here_;
  std::vector<Control> controls_;
};

std::vector<HostRanks> hosts_of(const LocalLaunch& local) {
  if (!local.hosts.empty()) {
    return local.hosts;
  }
  if (local.ranks < 1) {
    throw UsageError(fmt::format("--ranks {}: at least 1", local.ranks));
  }
  return {
      {.host = launch::host_name(), .ranks = local.ranks, .argv = local.argv}};
}

}  // namespace

void require_memory_for(int ranks, const std::string& host) {
  // Its own memory once it has libtorch and a channel: 58 to 60 MB measured.
  constexpr std::int64_t kLeastRankBytes = 50'000'000;
  const std::int64_t needed = ranks * kLeastRankBytes;
  const std::int64_t memory = usable_memory_bytes();
  if (needed > memory) {
    throw UsageError(
        fmt::format("{} ranks on host {} need at least {:.1f} GB of memory, "
                    "which has {:.1f} GB; use fewer ranks or more hosts",
                    ranks,
                    host,
                    static_cast<double>(needed) * 1e-9,
                    static_cast<double>(memory) * 1e-9));
  }
}

launch::Outcome launch_local(const LocalLaunch& local) {
  const std::vector<HostRanks> hosts = hosts_of(local);
  int here = 0;
  for (const HostRanks& host : hosts) {
    here += host.remote ? 0 : host.ranks;
  }
  require_memory_for(here, launch::host_name());
  const bool far = std::ranges::any_of(hosts, &HostRanks::remote);
  PACELINE_CHECK(!far || !local.ssh.empty());
  quiet_engine_logs();
  const launch::SupervisorSignals signals;  // before the store's threads
  const auto [fd, port] = listen_for_ranks(far, local.port);
  Starting starting(local, port);
  const auto store = serve_store(starting.job(), fd, port);
  const auto board = make_board(*store);
  if (local.prepare) {
    local.prepare(*board);
  }
  const auto children = starting.start(hosts, signals);
  auto outcome = launch::supervise(children, *board, signals, local.patience);
  if (local.conclude) {
    local.conclude(*board);
  }
  return outcome;
}

}  // namespace paceline::engines
