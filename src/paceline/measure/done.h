// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <set>
#include <string>
#include <utility>

#include "paceline/measure/bulletin.h"

namespace paceline::measure {

/// Cases by key and repetition.
using Done = std::set<std::pair<std::string, int>>;

/// What the record file holds already, for --resume.  Rank 0, which `leads`,
/// reads the file; the others take its word.
Done agree_on_done(Bulletin& bulletin,
                   bool leads,
                   const std::string& records_path,
                   std::chrono::milliseconds timeout);

}  // namespace paceline::measure
