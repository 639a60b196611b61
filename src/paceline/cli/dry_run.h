// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "paceline/case/experiment.h"

namespace paceline::cli {

/// What `--dry-run` prints: every case with its plan and costs.
std::string dry_run_text(const cases::Experiment& experiment);

}  // namespace paceline::cli
