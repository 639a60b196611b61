// SPDX-License-Identifier: Apache-2.0
#include "paceline/measure/child.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "paceline/base/clock.h"
#include "paceline/base/error.h"
#include "paceline/base/process.h"

namespace paceline::measure {
namespace {

struct Pipe {
  Pipe() {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) {
      throw WorldError(fmt::format("cannot open a pipe: {}", strerror(errno)));
    }
    out = ends[0];
    in = ends[1];
  }
  int out = -1, in = -1;
};

// Between fork and exec other threads' locks may be held for ever, so only
// async-signal-safe calls.  What goes wrong is written to `failure`.
[[noreturn]] void become(char* const* argv,
                         char* const* environment,
                         pid_t parent,
                         int output,
                         int failure) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) {
    _exit(127);  // the parent died before the line above
  }
  ::signal(SIGINT, SIG_IGN);  // ^C is the rank's affair, which ends us
  ::signal(SIGTERM, SIG_DFL);
  ::signal(SIGPIPE, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  int error = 0;
  if (dup2(output, STDOUT_FILENO) >= 0) {
    execvpe(argv[0], argv, environment);
  }
  error = errno;
  [[maybe_unused]] const auto count = write(failure, &error, sizeof(error));
  _exit(127);
}

}  // namespace

Child::Child(const std::vector<std::string>& command,
             const std::map<std::string, std::string>& environment) {
  const std::vector<std::string> variables = environment_with(environment);
  const auto argv = exec_pointers(command);
  const auto envp = exec_pointers(variables);
  const Pipe output;
  const Pipe failure;  // closed by a successful exec
  const pid_t parent = getpid();
  pid_ = fork();
  int error = pid_ < 0 ? errno : 0;
  if (pid_ == 0) {
    become(argv.data(), envp.data(), parent, output.in, failure.in);
  }
  close(output.in);
  close(failure.in);
  if (pid_ > 0 && read(failure.out, &error, sizeof(error)) > 0) {
    waitpid(pid_, nullptr, 0);
  }
  close(failure.out);
  if (error != 0) {
    close(output.out);
    throw WorldError(
        fmt::format("cannot start '{}': {}", command.front(), strerror(error)));
  }
  output_ = output.out;
}

Child::~Child() {
  if (pid_ > 0) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  close(output_);
}

std::optional<std::string> Child::read_line(std::chrono::milliseconds patience,
                                            const std::function<void()>& idle) {
  const std::int64_t began = steady_ns();
  while (true) {
    const std::size_t end = pending_.find('\n');
    if (end != std::string::npos) {
      std::string line = pending_.substr(0, end);
      pending_.erase(0, end + 1);
      return line;
    }
    if (ended_) {
      return std::nullopt;
    }
    pollfd wanted{.fd = output_, .events = POLLIN, .revents = 0};
    if (poll(&wanted, 1, 200) > 0) {
      std::array<char, 4096> chunk{};
      const ssize_t count = read(output_, chunk.data(), chunk.size());
      ended_ = count <= 0;
      pending_.append(chunk.data(),
                      static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
      continue;
    }
    idle();
    if (std::chrono::nanoseconds(steady_ns() - began) > patience) {
      throw WorldError(
          fmt::format("the external command has said nothing for {:.0f} s",
                      std::chrono::duration<double>(patience).count()));
    }
  }
}

int Child::wait() {
  int status = 0;
  waitpid(pid_, &status, 0);
  pid_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace paceline::measure
