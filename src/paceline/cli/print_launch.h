// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "paceline/case/raw_settings.h"

namespace paceline::cli {

/// What `--print-launch` prints.
struct LaunchText {
  std::string line;  // for stdout, ends with a line break
  std::string note;  // for stderr: what to fill in; may be empty
};

/// The line that starts `command_line` on a cluster.  Hosts and ranks follow from --ranks-per-host,
/// or from the largest --ranks on one host; the ranks check the rest.  Throws UsageError.
LaunchText launch_text(const cases::RawSettings& raw, const std::vector<std::string>& command_line);

}  // namespace paceline::cli
