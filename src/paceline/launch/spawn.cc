// SPDX-License-Identifier: Apache-2.0
#include "paceline/launch/spawn.h"

#include <cerrno>
#include <csignal>
#include <cstring>

#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "paceline/base/error.h"
#include "paceline/base/process.h"

namespace paceline::launch {
namespace {

// -1: the child prints where we do.
int open_log(const std::string& path) {
  if (path.empty()) {
    return -1;
  }
  const int log =
      open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (log < 0) {
    throw WorldError(
        fmt::format("cannot write {}: {}", path, std::strerror(errno)));
  }
  return log;
}

// Between fork and exec other threads' locks may be held for ever, so only
// async-signal-safe calls.
[[noreturn]] void become(const Command& command,
                         char* const* argv,
                         char* const* environment,
                         int log,
                         pid_t parent) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) {
    _exit(127);  // the parent died before the line above
  }
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGPIPE}) {
    ::signal(signal, SIG_DFL);
  }
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  // Ranks never read the terminal.
  const int from =
      command.input >= 0 ? command.input : open("/dev/null", O_RDONLY);
  if (from >= 0) {
    dup2(from, STDIN_FILENO);
    close(from);
  }
  if (log >= 0) {
    dup2(log, STDOUT_FILENO);
    dup2(log, STDERR_FILENO);
  }
  execve(command.executable.c_str(), argv, environment);
  _exit(127);
}

}  // namespace

pid_t spawn(const Command& command) {
  const auto argv = exec_pointers(command.argv);
  const auto environment = exec_pointers(command.environment);
  const pid_t parent = getpid();
  const int log = open_log(command.log);
  const pid_t child = fork();
  const int error = errno;
  if (child == 0) {
    become(command, argv.data(), environment.data(), log, parent);
  }
  if (log >= 0) {
    close(log);
  }
  if (child < 0) {
    throw WorldError(fmt::format(
        "cannot start '{}': {}", command.executable, std::strerror(error)));
  }
  setpgid(child, child);  // whoever comes first
  return child;
}

}  // namespace paceline::launch
