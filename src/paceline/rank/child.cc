// SPDX-License-Identifier: Apache-2.0
#include "paceline/rank/child.h"

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
#include "paceline/base/program_place.h"
#include "paceline/base/spawn.h"
#include "paceline/launch/command_guard.h"

namespace paceline::rank {
namespace {

constexpr std::int64_t kIdleNs = 200'000'000;
constexpr int kGraceMs = 5000;  // for a guard, which gives its command two seconds

std::vector<std::string> guarded(const std::vector<std::string>& command) {
  std::vector<std::string> words{program_path().string(), launch::kCommandGuard};
  words.insert(words.end(), command.begin(), command.end());
  return words;
}

}  // namespace

Child::Child(const std::vector<std::string>& command,
             const std::map<std::string, std::string>& environment, const ChildOptions& options)
    : log_(open_log(options.log, O_TRUNC)), guarded_(options.guarded) {
  std::array<int, 2> pipe{};
  if (pipe2(pipe.data(), O_CLOEXEC) != 0) {
    throw WorldError(fmt::format("cannot open a pipe: {}", strerror(errno)));
  }
  output_ = Descriptor(pipe[0]);
  const Descriptor input(pipe[1]);
  const std::vector<std::string> words = guarded_ ? guarded(command) : command;
  pid_ = spawn({.executable = words.front(),
                .argv = words,
                .environment = environment_with(environment, options.without),
                .output = input.number(),
                .error = options.reads_stderr ? input.number() : log_.number(),
                .own_group = guarded_});
}

Child::~Child() {
  if (pid_ > 0 && guarded_) {
    kill(pid_, SIGTERM);
    for (int waited = 0; pid_ > 0 && waited < kGraceMs; waited += 10) {
      if (waitpid(pid_, nullptr, WNOHANG) != 0) {
        pid_ = -1;
      } else {
        usleep(10'000);
      }
    }
  }
  if (pid_ > 0) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
}

std::optional<std::string> Child::take_line() {
  std::size_t end = pending_.find_first_of("\r\n");  // progress bars end lines with \r
  if (end == std::string::npos) {
    if (!ended_ || pending_.empty()) {
      return std::nullopt;
    }
    end = pending_.size();  // the last line has no line end
  }
  std::string line = pending_.substr(0, end);
  pending_.erase(0, end + 1);
  if (log_.is_open()) {
    const std::string text = line + '\n';
    [[maybe_unused]] const auto written = write(log_.number(), text.data(), text.size());
  }
  return line;
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
    if (auto line = take_line()) {
      return line;
    }
    if (ended_) {
      return std::nullopt;
    }
    pollfd wanted{.fd = output_.number(), .events = POLLIN, .revents = 0};
    if (poll(&wanted, 1, 200) > 0) {
      std::array<char, 4096> chunk{};
      const ssize_t count = read(output_.number(), chunk.data(), chunk.size());
      ended_ = count <= 0;
      pending_.append(chunk.data(), static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
      continue;
    }
    if (std::chrono::nanoseconds(steady_ns() - began) > timeout) {
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
