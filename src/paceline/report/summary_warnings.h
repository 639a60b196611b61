// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "paceline/records/run_record.h"
#include "paceline/report/summary.h"

namespace paceline::report {

/// Seconds of each step of each run, of its slowest rank.
using RunSeconds = std::vector<std::vector<double>>;

/// What a row's samples alone say against it: a link that was too slow, steps that are not steady
/// or resemble each other, few steps, other bytes than planned.
std::vector<records::Warning> own_warnings(const CaseSummary& row, const RunSeconds& runs);

}  // namespace paceline::report
