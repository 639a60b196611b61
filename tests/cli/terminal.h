// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <poll.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include "paceline/base/clock.h"

namespace paceline {

/// A shell line that runs on a terminal of its own, as a person's would.
class OnTerminal {
 public:
  explicit OnTerminal(const std::string& line) {
    child_ = forkpty(&terminal_, nullptr, nullptr, nullptr);
    if (child_ == 0) {
      execl("/bin/sh", "sh", "-c", ("exec " + line).c_str(), nullptr);
      _exit(127);
    }
  }
  ~OnTerminal() {
    if (child_ > 0) {
      kill(child_, SIGKILL);
      waitpid(child_, nullptr, 0);
    }
    close(terminal_);
  }
  OnTerminal(const OnTerminal&) = delete;
  OnTerminal& operator=(const OnTerminal&) = delete;

  /// Reads until `text` has been shown; false where the line ends before, or
  /// a minute has passed.
  bool see(const std::string& text) {
    const auto deadline = steady_now() + std::chrono::minutes(1);
    while (shown_.find(text) == std::string::npos) {
      pollfd ready{.fd = terminal_, .events = POLLIN, .revents = 0};
      if (steady_now() > deadline) {
        return false;
      }
      if (poll(&ready, 1, 100) > 0 && !read_some()) {
        return false;
      }
    }
    return true;
  }

  void type(char key) const {
    const ssize_t written = write(terminal_, &key, 1);
    static_cast<void>(written);
  }

  /// The exit code, once all has been read.
  int end() {
    while (read_some()) {
    }
    int status = 0;
    waitpid(child_, &status, 0);
    child_ = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

  const std::string& shown() const { return shown_; }

  /// Its child whose environment has `assignment`; 0: none.
  pid_t child_with(const std::string& assignment) const {
    std::ifstream children("/proc/" + std::to_string(child_) + "/task/" + std::to_string(child_) +
                           "/children");
    for (pid_t pid = 0; children >> pid;) {
      std::ifstream file("/proc/" + std::to_string(pid) + "/environ");
      const std::string all{std::istreambuf_iterator<char>(file), {}};
      if (('\0' + all).find('\0' + assignment + '\0') != std::string::npos) {
        return pid;
      }
    }
    return 0;
  }

 private:
  bool read_some() {
    std::array<char, 4096> buffer{};
    const ssize_t n = read(terminal_, buffer.data(), buffer.size());
    if (n > 0) {
      shown_.append(buffer.data(), static_cast<std::size_t>(n));
    }
    return n > 0;  // a terminal that nobody holds any more is an error
  }

  int terminal_ = -1;
  pid_t child_ = -1;
  std::string shown_;
};

}  // namespace paceline
