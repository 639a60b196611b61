// SPDX-License-Identifier: Apache-2.0
#include "paceline/launch/shared_text.h"

#include <cerrno>
#include <cstring>

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include "paceline/base/error.h"

namespace paceline::launch {

SharedText::SharedText(const std::string& text)
    : file_(memfd_create("paceline-order", MFD_CLOEXEC)) {
  if (file_ < 0 || write(file_, text.data(), text.size()) !=
                       static_cast<ssize_t>(text.size())) {
    throw WorldError(fmt::format("cannot hand the order to the ranks: {}",
                                 std::strerror(errno)));
  }
}

SharedText::~SharedText() {
  close(file_);
}

std::string SharedText::path() const {
  return fmt::format("/proc/{}/fd/{}", getpid(), file_);
}

}  // namespace paceline::launch
