// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace paceline::rank {

/// Whether a command only prints a log that is there already (cat, zcat, gzip
/// -dc and the like, without another command): its lines say times of another
/// run, and arrive all at once.
bool prints_log(const std::string& command);

}  // namespace paceline::rank
