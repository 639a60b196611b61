// SPDX-License-Identifier: Apache-2.0
// The twin of environment_hwloc.cc for builds without hwloc.
#include "paceline/record/environment.h"

namespace paceline::record {

std::string machine_picture(const std::optional<std::string>&) {
  return "";
}

}  // namespace paceline::record
