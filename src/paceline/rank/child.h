// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "paceline/base/descriptor.h"

namespace paceline::rank {

/// A command whose standard output is read line by line.  The command is ended when this object is
/// destroyed, and when the thread that made this object ends.
class Child {
 public:
  /// `environment` is added to this process's own, and the command reads `input`.  Throws
  /// WorldError if the command cannot be started.
  explicit Child(const std::vector<std::string>& command,
                 const std::map<std::string, std::string>& environment = {},
                 const std::string& input = "");
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  /// Returns the next line without its line end, or nothing at the end of the output.  Calls `idle`
  /// a few times a second.  Throws WorldError if no line comes within `timeout`.
  std::optional<std::string> read_line(std::chrono::milliseconds timeout,
                                       const std::function<void()>& idle);

  /// Waits for the command and returns its exit code (128 + signal if it was killed).
  int wait();

 private:
  pid_t pid_ = -1;
  Descriptor output_;
  std::string pending_;
  std::int64_t last_idle_ns_ = 0;
};

}  // namespace paceline::rank
