// SPDX-License-Identifier: Apache-2.0
#include "paceline/launch/host_agent.h"

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include "paceline/base/error.h"
#include "paceline/launch/failure_notice.h"
#include "paceline/launch/host_launch.h"

namespace paceline::launch {
namespace {

using namespace std::chrono_literals;

// How long the agent waits for the store to answer before it fails.
constexpr auto kStoreTimeout = 30s;

/// The lines that the process that starts the job sends through stdin.
class ControlInput {
 public:
  /// Returns the first line of stdin; nothing if stdin ends before the line does.
  std::optional<std::string> line() {
    while (text_.find('\n') == std::string::npos) {
      if (!read_some()) {
        return std::nullopt;
      }
    }
    const auto end = text_.find('\n');
    std::string first = text_.substr(0, end);
    text_.erase(0, end + 1);
    return first;
  }

  /// Sends SIGTERM to this process, whose supervisor then stops the ranks. A line "stop" causes one
  /// signal. After the end of stdin every call sends one, and the second one kills the ranks.
  void forward_stop() {
    if (closed() || (!stopping_ && text_.find('\n') != std::string::npos)) {
      stopping_ = true;
      kill(getpid(), SIGTERM);
    }
  }

  /// Whether stdin has ended.
  bool closed() {
    pollfd ready{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
    while (!closed_ && poll(&ready, 1, 0) > 0) {
      closed_ = !read_some();
    }
    return closed_;
  }

 private:
  bool read_some() {
    std::string buffer(4096, '\0');
    const ssize_t n = read(STDIN_FILENO, buffer.data(), buffer.size());
    if (n > 0) {
      text_.append(buffer, 0, static_cast<std::size_t>(n));
    }
    return n > 0 || (n < 0 && errno == EINTR);
  }

  std::string text_;
  bool closed_ = false, stopping_ = false;
};

Launch launch_of(const HostLaunch& host) {
  const Environment variables = [&host](const std::string& name) -> std::optional<std::string> {
    const auto found = host.variables.find(name);
    if (name == "RANK") {
      return std::to_string(host.first_rank);
    }
    return found == host.variables.end() ? std::nullopt : std::optional(found->second);
  };
  return detect_launch(variables, "", host_name(), getppid());
}

}  // namespace

int run_host_agent(const OpenStore& open_store) {
  const SupervisorSignals signals;  // must exist before the store's threads
  ControlInput control;
  const auto line = control.line();
  if (!line) {
    throw UsageError(
        fmt::format("{} is how paceline run -H starts itself on another host", kHostAgent));
  }
  const HostLaunch host = host_launch_from(*line);
  std::error_code elsewhere;
  std::filesystem::current_path(host.folder, elsewhere);
  const auto store = open_store(launch_of(host), kStoreTimeout);
  SuperviseOptions options;
  options.heartbeat_timeout = kNoTimeout;  // the process that starts the job watches heartbeats
  options.on_tick = [&control] { control.forward_stop(); };
  options.on_failure = [&store](const FailureNotice& notice) {
    if (!failure_notice_of(*store, notice.rank)) {
      post_failure(*store, notice);
    }
  };
  return supervise(start_ranks(host, signals), *store, signals, options).exit_code;
}

}  // namespace paceline::launch
