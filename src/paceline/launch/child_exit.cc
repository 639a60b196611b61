// SPDX-License-Identifier: Apache-2.0
#include "paceline/launch/child_exit.h"

#include <csignal>
#include <cstring>

#include <fmt/format.h>
#include <sys/wait.h>

#include "paceline/base/clock.h"
#include "paceline/base/exit_status.h"
#include "paceline/base/spawn.h"

namespace paceline::launch {

std::optional<int> reap_group(pid_t child) {
  siginfo_t info{};
  if (waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
      info.si_pid != child) {
    return std::nullopt;
  }
  kill(-child, SIGKILL);  // until the child is reaped, its group's number is not reused
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

ChildExit wait_for_child(pid_t child, const SupervisorSignals& signals,
                         std::chrono::milliseconds deadline, std::chrono::milliseconds grace) {
  constexpr std::chrono::milliseconds kTick{100};
  ChildExit exit;
  const Stopwatch watch;
  std::optional<std::chrono::nanoseconds> asked;
  while (true) {
    const int signal = signals.wait(kTick);
    const bool stop = signal != 0 && signal != SIGCHLD;
    if (stop && exit.stop_signal == 0) {
      exit.stop_signal = signal;
    }
    if (const auto status = reap_group(child)) {
      exit.exit_code = exit_code_of(*status);
      return exit;
    }
    const auto now = watch.elapsed();
    exit.timed_out = exit.timed_out || (!asked && now > deadline);
    const bool again = stop && asked && is_second_request(now - *asked);
    if (again || (asked && now - *asked > grace)) {
      kill(-child, SIGKILL);
    }
    if (!asked && (exit.stop_signal != 0 || exit.timed_out)) {
      kill(-child, SIGTERM);
      asked = now;
    }
  }
}

std::string exit_description(int status) {
  if (WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    return fmt::format("was killed by signal {} ({})", signal, strsignal(signal));
  }
  const int code = WEXITSTATUS(status);
  const char* const asked = code > kSignalStatus ? sigabbrev_np(code - kSignalStatus) : nullptr;
  return asked == nullptr ? fmt::format("ended with exit code {}", code)
                          : fmt::format("ended because of a SIG{} (exit code {})", asked, code);
}

}  // namespace paceline::launch
