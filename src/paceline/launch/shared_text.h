// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace paceline::launch {

/// A text that our children read as a file, and that is gone with us.  Throws
/// WorldError where there is no memory for it.
class SharedText {
 public:
  explicit SharedText(const std::string& text);
  ~SharedText();
  SharedText(const SharedText&) = delete;
  SharedText& operator=(const SharedText&) = delete;

  std::string path() const;

 private:
  int file_;
};

}  // namespace paceline::launch
