// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "paceline/case/raw_settings.h"
#include "paceline/launch/launch_command.h"

namespace paceline::cli {

/// What `--print-launch` prints: the line that starts `command_line` on a cluster.  Hosts and ranks
/// follow from --ranks-per-host, or from the largest --ranks on one host; the ranks check the rest.
/// Throws UsageError.
launch::LaunchLine launch_text(const cases::RawSettings& raw,
                               const std::vector<std::string>& command_line);

}  // namespace paceline::cli
