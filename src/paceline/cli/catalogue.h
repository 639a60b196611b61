// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "paceline/case/machine.h"

namespace paceline::cli {

/// What `paceline list` prints of a model, an engine, ...
struct Entry {
  std::string name;
  std::string summary;
};

std::vector<Entry> models();

/// The machine as an experiment wants to know it; `ranks_per_host` of a joined world, empty where
/// none was joined.
cases::MachineFacts machine_here(std::vector<int> ranks_per_host);

}  // namespace paceline::cli
