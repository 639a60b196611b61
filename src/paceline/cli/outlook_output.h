// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "paceline/predict/next_measurement.h"
#include "paceline/predict/scaling.h"
#include "paceline/report/command_output.h"

// What `paceline advise` says beyond the asked world and the asked certainty.

namespace paceline::cli {

/// Adds the table of the strategy's worlds with the sentence that says where its efficiency falls,
/// and its values as `scaling`.  No table where there is no world.
void add_scaling(const predict::Scaling& scaling, report::CommandOutput& output);

/// Adds the table of what could be measured with the sentence that says what to measure next, and
/// its values as `measure_next`.  No table where there is no candidate.
void add_next_measurements(const predict::NextMeasurements& next, report::CommandOutput& output);

}  // namespace paceline::cli
