// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "paceline/case/raw_settings.h"
#include "paceline/launch/launch_command.h"

namespace paceline::cli {

/// What `--print-launch` prints: the line by which a launcher starts `command_line` on a cluster.
/// The numbers of hosts and ranks follow from --ranks-per-host, or from the largest --ranks on a
/// single host. All other flags are checked later, by the ranks. Throws UsageError if these numbers
/// cannot be determined.
launch::LaunchLine launch_text(const cases::RawSettings& raw,
                               const std::vector<std::string>& command_line);

}  // namespace paceline::cli
