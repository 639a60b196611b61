// SPDX-License-Identifier: Apache-2.0
#include "paceline/launch/attend.h"

#include <csignal>
#include <optional>

#include <sys/wait.h>

#include "paceline/base/clock.h"

namespace paceline::launch {
namespace {

constexpr std::chrono::milliseconds kTick{100};

// The child's status once it has ended; what it started itself ends with it.
std::optional<int> reap(pid_t child) {
  siginfo_t info{};
  if (waitid(P_PID,
             static_cast<id_t>(child),
             &info,
             WEXITED | WNOHANG | WNOWAIT) != 0 ||
      info.si_pid != child) {
    return std::nullopt;
  }
  kill(-child, SIGKILL);  // until it is reaped, the group's number is its
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

Ending attend(pid_t child,
              const SupervisorSignals& signals,
              std::chrono::milliseconds deadline,
              std::chrono::milliseconds patience) {
  Ending ending;
  const Stopwatch watch;
  std::optional<std::chrono::nanoseconds> asked;
  while (true) {
    const int signal = signals.wait(kTick);
    if (const auto code = reap(child)) {
      ending.exit_code = *code;
      if (signal != 0 && signal != SIGCHLD && ending.stop_signal == 0) {
        ending.stop_signal = signal;
      }
      return ending;
    }
    const auto now = watch.elapsed();
    if (signal != 0 && signal != SIGCHLD) {
      if (asked) {
        kill(-child, SIGKILL);
      }
      ending.stop_signal =
          ending.stop_signal == 0 ? signal : ending.stop_signal;
    }
    ending.timed_out = ending.timed_out || (!asked && now > deadline);
    if (!asked && (ending.stop_signal != 0 || ending.timed_out)) {
      kill(-child, SIGTERM);
      asked = now;
    }
    if (asked && now - *asked > patience) {
      kill(-child, SIGKILL);
    }
  }
}

}  // namespace paceline::launch
