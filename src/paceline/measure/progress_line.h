// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace paceline::measure {

/// One line on stderr that is overwritten while work goes on, and erased at
/// destruction.
class ProgressLine {
 public:
  /// Prints nothing where `shown` is false.
  explicit ProgressLine(bool shown) : shown_(shown) {}
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void show(const std::string& text);

  /// Erases the line, so that other text can be printed.
  void clear();

 private:
  bool shown_;
  bool there_ = false;
};

}  // namespace paceline::measure
