// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "paceline/experiment/experiment.h"

namespace paceline::cli {

/// What `--dry-run` prints: every case with what it will do.
std::string dry_run_text(const experiment::Experiment& experiment);

}  // namespace paceline::cli
