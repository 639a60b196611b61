// SPDX-License-Identifier: Apache-2.0
#include "paceline/engines/host_agent.h"

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <system_error>
#include <thread>

#include <poll.h>
#include <unistd.h>

#include "paceline/base/error.h"
#include "paceline/engines/job_store.h"
#include "paceline/engines/local_launch.h"
#include "paceline/launch/failure_notice.h"
#include "paceline/launch/host_order.h"
#include "paceline/launch/place.h"

namespace paceline::engines {
namespace {

using namespace std::chrono_literals;

// For the store to answer; whoever started us watches the hearts meanwhile.
constexpr auto kStorePatience = 30s;

/// What whoever started us says through stdin.
class Control {
 public:
  /// The first line; nothing where stdin ends before it does.
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

  /// Asks the supervisor that watches in this process to stop: once where we
  /// are told to, and again, which kills, where nobody is there any more.
  void obey() {
    if (gone() || (!stopping_ && text_.find('\n') != std::string::npos)) {
      stopping_ = true;
      kill(getpid(), SIGTERM);
    }
  }

  /// Whether nobody is there any more.
  bool gone() {
    pollfd ready{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
    while (!gone_ && poll(&ready, 1, 0) > 0) {
      gone_ = !read_some();
    }
    return gone_;
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
  bool gone_ = false, stopping_ = false;
};

/// The store of whoever started us; ends this process where that one is gone
/// before its store has answered.
std::shared_ptr<JobStore> open_store_of(const launch::Launch& launch,
                                        Control& control) {
  const std::jthread watch([&control](const std::stop_token& stopped) {
    while (!stopped.stop_requested()) {
      if (control.gone()) {
        _exit(3);
      }
      std::this_thread::sleep_for(100ms);
    }
  });
  return open_store(launch, kStorePatience);
}

launch::Launch launch_of(const launch::HostOrder& order) {
  launch::Environment variables =
      [&order](const std::string& name) -> std::optional<std::string> {
    const auto found = order.variables.find(name);
    if (name == "RANK") {
      return std::to_string(order.first_rank);
    }
    return found == order.variables.end() ? std::nullopt
                                          : std::optional(found->second);
  };
  return launch::detect_launch(variables, "", launch::host_name(), getppid());
}

}  // namespace

int attend_ranks() {
  const launch::SupervisorSignals signals;  // before the store's threads
  quiet_engine_logs();
  Control control;
  const auto line = control.line();
  if (!line) {
    throw UsageError(
        fmt::format("{} is how paceline run -H starts itself on another host",
                    kAttendRanks));
  }
  const launch::HostOrder order = launch::host_order_from(*line);
  std::error_code elsewhere;
  std::filesystem::current_path(order.folder, elsewhere);
  const auto store = open_store_of(launch_of(order), control);
  const auto board = make_board(*store);
  launch::Patience patience;
  patience.heartbeat = std::chrono::hours(24 * 365);  // not ours to judge
  patience.meanwhile = [&control] { control.obey(); };
  patience.verdict = [&board](const launch::FailureNotice& notice) {
    if (!launch::failure_of(*board, notice.rank)) {
      launch::post_failure(*board, notice);
    }
  };
  require_memory_for(order.ranks, order.host);
  const launch::StartedRanks ranks(order, signals);
  const launch::Outcome outcome =
      launch::supervise(ranks.watched(), *board, signals, patience);
  return outcome.exit_code;
}

}  // namespace paceline::engines
