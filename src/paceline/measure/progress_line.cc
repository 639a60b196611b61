// SPDX-License-Identifier: Apache-2.0
#include "paceline/measure/progress_line.h"

#include <cstdio>

#include <fmt/format.h>

namespace paceline::measure {

void ProgressLine::show(const std::string& text) {
  if (shown_) {
    fmt::print(stderr, "\r{}\033[K", text);
    std::fflush(stderr);
    there_ = true;
  }
}

void ProgressLine::clear() {
  if (there_) {
    std::fputs("\r\033[K", stderr);
    std::fflush(stderr);
    there_ = false;
  }
}

}  // namespace paceline::measure
