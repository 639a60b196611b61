// SPDX-License-Identifier: Apache-2.0
#include "paceline/launch/command_guard.h"

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <optional>

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "paceline/base/error.h"
#include "paceline/base/exit_status.h"
#include "paceline/base/file.h"
#include "paceline/base/process.h"
#include "paceline/base/spawn.h"
#include "paceline/base/text.h"

namespace paceline::launch {
namespace {

constexpr timespec kGrace{.tv_sec = 2, .tv_nsec = 0};

// Returns the parent of a process, whose folder in /proc is `folder`. The second field of the file
// `stat`, the program's name in parentheses, may contain any characters.
std::optional<pid_t> parent_of(const std::filesystem::path& folder) {
  const auto stat = read_text_if_readable((folder / "stat").string());
  const std::size_t after = stat ? stat->rfind(')') : std::string::npos;
  if (after == std::string::npos || after + 4 >= stat->size()) {
    return std::nullopt;
  }
  const std::string rest = stat->substr(after + 4);  // skips ") S "
  return number_from<pid_t>(rest.substr(0, rest.find(' ')));
}

std::vector<pid_t> children() {
  std::vector<pid_t> all;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(
           "/proc", std::filesystem::directory_options::skip_permission_denied, error)) {
    const auto pid = number_from<pid_t>(entry.path().filename().string());
    if (pid && parent_of(entry.path()) == getpid()) {
      all.push_back(*pid);
    }
  }
  return all;
}

class Guard {
 public:
  Guard() {
    // Orphaned descendants of the command become children of this process.
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    sigemptyset(&signals_);
    for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGCHLD}) {
      sigaddset(&signals_, signal);
    }
    sigprocmask(SIG_BLOCK, &signals_, nullptr);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
  }

  int run(const std::vector<std::string>& command) {
    const pid_t pid = spawn(
        {.executable = command.front(), .argv = command, .environment = environment_with({})});
    int signal = SIGCHLD;
    while (!reap(pid) && signal == SIGCHLD) {
      signal = sigwaitinfo(&signals_, nullptr);
    }
    if (!status_) {
      kill(-pid, SIGTERM);
      while (!reap(pid) && sigtimedwait(&signals_, nullptr, &kGrace) > 0) {
      }
    }
    kill_all();
    return status_ ? exit_code_of(*status_) : kSignalStatus + SIGKILL;
  }

 private:
  // Reaps ended children. Returns whether the command has ended.
  bool reap(pid_t command) {
    int status = 0;
    for (pid_t ended = 0; (ended = waitpid(-1, &status, WNOHANG)) > 0;) {
      if (ended == command) {
        status_ = status;
      }
    }
    return status_.has_value();
  }

  // Repeats the killing until no child is left, as children of a killed process become children of
  // this one.
  static void kill_all() {
    for (std::vector<pid_t> left = children(); !left.empty(); left = children()) {
      for (const pid_t pid : left) {
        kill(pid, SIGKILL);
      }
      for (const pid_t pid : left) {
        waitpid(pid, nullptr, 0);
      }
    }
  }

  sigset_t signals_{};
  std::optional<int> status_;
};

}  // namespace

int guard_command(const std::vector<std::string>& command) {
  PACELINE_CHECK(!command.empty());
  try {
    return Guard().run(command);
  } catch (const WorldError& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 127;
  }
}

}  // namespace paceline::launch
