// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "paceline/predict/measured_fit.h"
#include "paceline/report/table.h"

namespace paceline::cli {

/// The constants that figures determine, and each figure beside them.
report::Document measured_tables(const predict::MeasuredFit& fit);

}  // namespace paceline::cli
