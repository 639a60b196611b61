// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "paceline/predict/next_measurement.h"
#include "paceline/predict/scaling.h"
#include "paceline/report/command_output.h"

// Output of `paceline advise` beyond the ranking: predicted scaling to other numbers of ranks, and
// measurements that would narrow its intervals.

namespace paceline::cli {

/// Adds the table of predicted steps by number of ranks, a sentence that says where efficiency
/// falls below the threshold, and the JSON key `scaling` with the values. Adds nothing if there are
/// no rows.
void add_scaling(const predict::Scaling& scaling, report::CommandOutput& output);

/// Adds the table of possible measurements with a sentence that says which one to make next, and
/// its values as `measure_next`. Adds no table if there is no candidate.
void add_next_measurements(const predict::NextMeasurements& next, report::CommandOutput& output);

}  // namespace paceline::cli
