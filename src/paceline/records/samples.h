// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "paceline/records/run_record.h"

namespace paceline::records {

/// Returns the step times of each rank in nanoseconds.
std::vector<std::vector<std::int64_t>> step_ns(const RunRecord& record);

/// Returns the time of every step in seconds, each on its slowest rank.
std::vector<double> slowest_step_s(const RunRecord& record);

/// Returns the mean step time in seconds, of the rank for which it is longest: the wall time of all
/// steps divided by their number.  If the wall time is not known, the sum of the steps replaces it.
/// Returns 0 without steps.
double mean_step_s(const RunRecord& record);

/// Returns slowest_step_s() of the steps without communication; empty if these were not measured.
std::vector<double> slowest_compute_only_step_s(const RunRecord& record);

/// Returns how many seconds communication adds to a step, one value for each pair of adjacent
/// blocks of steps: the median step time with communication minus the median without it. The time
/// of a step is that of its slowest rank. Empty if no pairs were measured.
std::vector<double> exposed_s_by_pair(const RunRecord& record);

/// Returns the mean time in seconds for which a step waited for its input data, on the rank that
/// waited longest; nothing if that phase was not measured.
std::optional<double> longest_data_wait_s(const RunRecord& record);

}  // namespace paceline::records
