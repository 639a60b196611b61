// SPDX-License-Identifier: Apache-2.0
#include "paceline/comm/local_launch.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <tuple>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "paceline/base/clock.h"
#include "paceline/base/error.h"
#include "paceline/base/process.h"
#include "paceline/comm/job_store.h"
#include "paceline/launch/place.h"
#include "paceline/launch/spawn.h"

namespace paceline::comm {
namespace {

// A socket that listens on the loopback only, and its port.
std::tuple<int, std::uint16_t> listen_on_loopback() {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  if (fd < 0 || bind(fd, generic, length) != 0 || listen(fd, SOMAXCONN) != 0 ||
      getsockname(fd, generic, &length) != 0) {
    throw WorldError(
        fmt::format("no port on the loopback for the ranks' store: {}",
                    std::strerror(errno)));
  }
  return {fd, ntohs(address.sin_port)};
}

std::vector<std::string> base_environment(const LocalLaunch& local,
                                          const std::string& job,
                                          std::uint16_t port) {
  auto environment =
      environment_with({{"MASTER_ADDR", "127.0.0.1"},
                        {"MASTER_PORT", std::to_string(port)},
                        {launch::kLaunchMarker, job},
                        {"WORLD_SIZE", std::to_string(local.ranks)},
                        {"LOCAL_WORLD_SIZE", std::to_string(local.ranks)}},
                       {"RANK", "LOCAL_RANK"});
  environment.insert(
      environment.end(), local.variables.begin(), local.variables.end());
  return environment;
}

launch::Command command_of(const LocalLaunch& local,
                           std::vector<std::string> environment,
                           int rank) {
  environment.push_back(fmt::format("RANK={}", rank));
  environment.push_back(fmt::format("LOCAL_RANK={}", rank));
  // By its own name, because "exe" is what ps would show for the link.
  const auto executable =
      local.executable.empty()
          ? std::filesystem::read_symlink("/proc/self/exe").string()
          : local.executable;
  return {executable, local.argv, std::move(environment)};
}

}  // namespace

launch::Outcome launch_local(const LocalLaunch& local) {
  if (local.ranks < 1) {
    throw UsageError(fmt::format("--ranks {}: at least 1", local.ranks));
  }
  quiet_engine_logs();
  const launch::SupervisorSignals signals;  // before the store's threads
  const auto job = fmt::format("{}-{}", getpid(), steady_ns());
  const auto [fd, port] = listen_on_loopback();
  const auto store = serve_store(job, fd, port);
  const auto board = make_board(*store);
  if (local.prepare) {
    local.prepare(*board);
  }
  const auto environment = base_environment(local, job, port);
  std::vector<pid_t> children;
  for (int rank = 0; rank < local.ranks; ++rank) {
    children.push_back(launch::spawn(command_of(local, environment, rank)));
  }
  auto outcome = launch::supervise(
      children, *board, launch::host_name(), signals, local.patience);
  if (local.conclude) {
    local.conclude(*board);
  }
  return outcome;
}

}  // namespace paceline::comm
