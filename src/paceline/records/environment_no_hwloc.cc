// SPDX-License-Identifier: Apache-2.0
// The twin of environment_hwloc.cc for builds without hwloc.
#include "paceline/records/environment.h"

namespace paceline::records {

std::string machine_picture(const std::optional<std::string>&) { return ""; }

}  // namespace paceline::records
