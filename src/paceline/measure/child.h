// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace paceline::measure {

/// A command whose standard output is read line by line.  It stays in this
/// process group, so that killing a rank's group ends it too.  It is killed
/// when this object is destroyed, and by the kernel when the thread that made
/// this object ends.
class Child {
 public:
  /// `environment` is added to this process's own.  Throws WorldError where
  /// the command cannot be started.
  Child(const std::vector<std::string>& command,
        const std::map<std::string, std::string>& environment);
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  /// The next line without its end; nothing at the end of the output.  Calls
  /// `idle` a few times a second.  Throws WorldError after `timeout`.
  std::optional<std::string> read_line(std::chrono::milliseconds timeout,
                                       const std::function<void()>& idle);

  /// The exit code (128 + signal where it was killed).
  int wait();

 private:
  pid_t pid_ = -1;
  int output_ = -1;
  std::string pending_;
  bool ended_ = false;
};

}  // namespace paceline::measure
