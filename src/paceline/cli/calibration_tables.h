// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "paceline/predict/calibrate.h"
#include "paceline/report/table.h"

namespace paceline::cli {

/// What was fitted, and how well it explains each measured case.
report::Document calibration_tables(const predict::Calibration& calibration);

}  // namespace paceline::cli
