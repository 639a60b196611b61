// SPDX-License-Identifier: Apache-2.0
// Replaces environment_hwloc.cc in builds without hwloc.
#include "paceline/records/environment.h"

namespace paceline::records {

std::string machine_picture(const std::optional<std::string>&) { return ""; }

}  // namespace paceline::records
