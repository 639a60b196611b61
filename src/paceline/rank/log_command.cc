// SPDX-License-Identifier: Apache-2.0
#include "paceline/rank/log_command.h"

#include <regex>

namespace paceline::rank {

bool prints_log(const std::string& command) {
  static const std::regex prints(
      R"(\s*(?:cat|zcat|bzcat|xzcat|zstdcat|(?:gzip|bzip2|xz|zstd)\s+-(?:dc|cd))\s+[^;|&<>()`$]+)");
  return std::regex_match(command, prints);
}

}  // namespace paceline::rank
