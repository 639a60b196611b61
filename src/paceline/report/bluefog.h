// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "paceline/records/run_record.h"

namespace paceline::report {

/// What BlueFog's examples/pytorch_benchmark.py prints of each run, to the
/// character: one line per ten steps with rank 0's rate, one per rank, and the
/// rate of all ranks.  The error is the original's, 1.96 standard deviations of
/// the rates of ten steps: a spread, not a standard error.
///
/// Steps beyond the last full ten are left out.  Runs that failed, and those
/// of fewer than ten steps, have no lines.
std::string render_bluefog(std::span<const records::RunRecord> records);

}  // namespace paceline::report
