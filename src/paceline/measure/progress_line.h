// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <string>

#include <fmt/format.h>

namespace paceline::measure {

/// One line on stderr that is overwritten while work goes on, and erased at
/// destruction.
class ProgressLine {
 public:
  /// Prints nothing where `shown` is false.
  explicit ProgressLine(bool shown) : shown_(shown) {}
  ~ProgressLine() {
    if (there_) {
      std::fputs("\r\033[K", stderr);
      std::fflush(stderr);
    }
  }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void show(const std::string& text) {
    if (shown_) {
      fmt::print(stderr, "\r{}\033[K", text);
      std::fflush(stderr);
      there_ = true;
    }
  }

 private:
  bool shown_;
  bool there_ = false;
};

}  // namespace paceline::measure
