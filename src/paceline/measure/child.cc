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
#include <sys/wait.h>
#include <unistd.h>

#include "paceline/base/clock.h"
#include "paceline/base/error.h"
#include "paceline/base/process.h"
#include "paceline/base/spawn.h"

namespace paceline::measure {

Child::Child(const std::vector<std::string>& command,
             const std::map<std::string, std::string>& environment) {
  std::array<int, 2> pipe{};
  if (pipe2(pipe.data(), O_CLOEXEC) != 0) {
    throw WorldError(fmt::format("cannot open a pipe: {}", strerror(errno)));
  }
  output_ = pipe[0];
  try {
    pid_ = spawn({.executable = command.front(),
                  .argv = command,
                  .environment = environment_with(environment),
                  .output = pipe[1],
                  .own_group = false});
  } catch (...) {
    close(pipe[0]);
    close(pipe[1]);
    throw;
  }
  close(pipe[1]);
}

Child::~Child() {
  if (pid_ > 0) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  close(output_);
}

std::optional<std::string> Child::read_line(std::chrono::milliseconds timeout,
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
    if (std::chrono::nanoseconds(steady_ns() - began) > timeout) {
      throw WorldError(
          fmt::format("the external command has written nothing for {:.0f} s",
                      std::chrono::duration<double>(timeout).count()));
    }
  }
}

int Child::wait() {
  int status = 0;
  waitpid(pid_, &status, 0);
  pid_ = -1;
  return exit_code_of(status);
}

}  // namespace paceline::measure
