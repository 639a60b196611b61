// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace paceline::measure {

/// One line on stderr that is written anew while work goes on, and gone when
/// this is.
class ProgressLine {
 public:
  /// `shown` false: says nothing.
  explicit ProgressLine(bool shown) : shown_(shown) {}
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void show(const std::string& text);

  /// Takes the line away, so that another text can stand there.
  void clear();

 private:
  bool shown_;
  bool there_ = false;
};

}  // namespace paceline::measure
