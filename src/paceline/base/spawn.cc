// SPDX-License-Identifier: Apache-2.0
#include "paceline/base/spawn.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "paceline/base/descriptor.h"
#include "paceline/base/error.h"
#include "paceline/base/exit_status.h"
#include "paceline/base/process.h"

namespace paceline {
namespace {

void replace(int descriptor, int by) {
  if (by >= 0) {
    dup2(by, descriptor);
  }
}

// Runs in the child.  Between fork and exec, locks of other threads may be held for ever, so only
// async-signal-safe calls are allowed.  Writes errno to `failure` if the executable cannot be run.
[[noreturn]] void execute(const Command& command, char* const* argv, char* const* environment,
                          pid_t parent, int failure) {
  if (command.leads_process_group) {
    setpgid(0, 0);
  }
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) {
    _exit(127);  // the parent had already died before prctl()
  }
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGPIPE, SIGCHLD}) {
    ::signal(signal, SIG_DFL);
  }
  if (!command.leads_process_group) {
    ::signal(SIGINT, SIG_IGN);
  }
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  replace(STDIN_FILENO, command.input >= 0 ? command.input : open("/dev/null", O_RDONLY));
  replace(STDOUT_FILENO, command.output);
  replace(STDERR_FILENO, command.error);
  execvpe(command.executable.c_str(), argv, environment);
  const int error = errno;
  [[maybe_unused]] const auto written = write(failure, &error, sizeof error);
  _exit(127);
}

}  // namespace

Descriptor open_log(const std::string& path, int flags) {
  if (path.empty()) {
    return Descriptor();
  }
  Descriptor log(open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | flags, 0666));
  if (!log.is_open()) {
    throw WorldError(fmt::format("cannot write {}: {}", path, std::strerror(errno)));
  }
  return log;
}

pid_t spawn(const Command& command) {
  const auto argv = exec_pointers(command.argv);
  const auto environment = exec_pointers(command.environment);
  Command child_command = command;
  const Descriptor log = open_log(command.log);
  if (log.is_open()) {
    child_command.output = child_command.error = log.number();
  }
  std::array<int, 2> failure{-1, -1};  // a pipe that a successful exec closes
  const pid_t parent = getpid();
  const pid_t child = pipe2(failure.data(), O_CLOEXEC) == 0 ? fork() : static_cast<pid_t>(-1);
  int error = child < 0 ? errno : 0;
  if (child == 0) {
    execute(child_command, argv.data(), environment.data(), parent, failure[1]);
  }
  if (child > 0 && command.leads_process_group) {
    setpgid(child, child);  // the child does the same; either may come first
  }
  const Descriptor told(failure[0]);
  Descriptor(failure[1]).close();
  if (child > 0 && read(told.number(), &error, sizeof error) > 0) {
    waitpid(child, nullptr, 0);
  }
  if (error != 0) {
    throw WorldError(
        fmt::format("cannot start '{}': {}", command.executable, std::strerror(error)));
  }
  return child;
}

int exit_code_of(int status) {
  return WIFEXITED(status) ? WEXITSTATUS(status) : kSignalStatus + WTERMSIG(status);
}

}  // namespace paceline
