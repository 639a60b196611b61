// SPDX-License-Identifier: Apache-2.0
#include "paceline/rank/child.h"

#include <array>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "paceline/base/clock.h"
#include "paceline/base/error.h"
#include "paceline/base/process.h"
#include "paceline/base/spawn.h"

namespace paceline::rank {
namespace {

constexpr std::int64_t kIdleNs = 200'000'000;
constexpr int kGraceMs = 5000;  // an external program has two seconds of it

// Returns a file in memory from which a child can read the text.
Descriptor file_of(const std::string& text) {
  Descriptor file(memfd_create("input", MFD_CLOEXEC));
  if (!file.is_open() ||
      pwrite(file.number(), text.data(), text.size(), 0) != static_cast<ssize_t>(text.size())) {
    throw WorldError(fmt::format("cannot write a file in memory: {}", strerror(errno)));
  }
  return file;
}

}  // namespace

Child::Child(const std::vector<std::string>& command,
             const std::map<std::string, std::string>& environment, const std::string& input) {
  std::array<int, 2> pipe{};
  if (pipe2(pipe.data(), O_CLOEXEC) != 0) {
    throw WorldError(fmt::format("cannot open a pipe: {}", strerror(errno)));
  }
  output_ = Descriptor(pipe[0]);
  const Descriptor theirs(pipe[1]);
  pid_ = spawn({.executable = command.front(),
                .argv = command,
                .environment = environment_with(environment),
                .input = file_of(input).number(),
                .output = theirs.number()});
}

Child::~Child() {
  if (pid_ > 0) {
    kill(pid_, SIGTERM);
  }
  for (int waited = 0; pid_ > 0 && waited < kGraceMs; waited += 10) {
    if (waitpid(pid_, nullptr, WNOHANG) != 0) {
      pid_ = -1;
    } else {
      usleep(10'000);
    }
  }
  if (pid_ > 0) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
}

std::optional<std::string> Child::read_line(std::chrono::milliseconds timeout,
                                            const std::function<void()>& idle) {
  const std::int64_t began = steady_ns();
  while (true) {
    const std::int64_t now = steady_ns();
    if (now - last_idle_ns_ > kIdleNs) {
      last_idle_ns_ = now;
      idle();
    }
    if (const std::size_t end = pending_.find('\n'); end != std::string::npos) {
      std::string line = pending_.substr(0, end);
      pending_.erase(0, end + 1);
      return line;
    }
    pollfd wanted{.fd = output_.number(), .events = POLLIN, .revents = 0};
    if (poll(&wanted, 1, 200) > 0) {
      std::array<char, 4096> chunk{};
      const ssize_t count = read(output_.number(), chunk.data(), chunk.size());
      if (count <= 0) {
        return std::nullopt;
      }
      pending_.append(chunk.data(), static_cast<std::size_t>(count));
    } else if (std::chrono::nanoseconds(steady_ns() - began) > timeout) {
      throw WorldError(fmt::format("it has written nothing for {:.0f} s", to_seconds(timeout)));
    }
  }
}

int Child::wait() {
  int status = 0;
  waitpid(pid_, &status, 0);
  pid_ = -1;
  return exit_code_of(status);
}

}  // namespace paceline::rank
