// SPDX-License-Identifier: Apache-2.0
#include "paceline/bench/child.h"

#include <array>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "paceline/base/clock.h"
#include "paceline/base/error.h"

extern char** environ;

namespace paceline::bench {
namespace {

std::vector<std::string> merged_environment(
    const std::map<std::string, std::string>& more) {
  std::vector<std::string> merged;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text(*entry);
    if (!more.contains(text.substr(0, text.find('=')))) {
      merged.push_back(text);
    }
  }
  for (const auto& [name, value] : more) {
    merged.push_back(name + "=" + value);
  }
  return merged;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (std::string& text : texts) {
    out.push_back(text.data());
  }
  out.push_back(nullptr);
  return out;
}

}  // namespace

Child::Child(const std::vector<std::string>& command,
             const std::map<std::string, std::string>& environment) {
  std::array<int, 2> pipe_ends{};
  if (pipe2(pipe_ends.data(), O_CLOEXEC) != 0) {
    throw WorldError(fmt::format("cannot open a pipe: {}", strerror(errno)));
  }
  output_ = pipe_ends[0];
  std::vector<std::string> arguments = command;
  std::vector<std::string> variables = merged_environment(environment);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], STDOUT_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  const int error = posix_spawnp(&pid_,
                                 arguments.front().c_str(),
                                 &actions,
                                 &attributes,
                                 pointers(arguments).data(),
                                 pointers(variables).data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  close(pipe_ends[1]);
  if (error != 0) {
    close(output_);
    throw WorldError(
        fmt::format("cannot start '{}': {}", command.front(), strerror(error)));
  }
}

Child::~Child() {
  if (pid_ > 0) {
    kill(-pid_, SIGKILL);
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

}  // namespace paceline::bench
