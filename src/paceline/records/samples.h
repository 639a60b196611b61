// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "paceline/records/run_record.h"

namespace paceline::records {

/// Step times of each rank, in nanoseconds.
std::vector<std::vector<std::int64_t>> step_ns(const RunRecord& record);

/// Seconds of every step of its slowest rank.
std::vector<double> slowest_step_s(const RunRecord& record);

/// Seconds of a step on the mean: the wall time of all steps over their number, of the rank that
/// took longest; their sum where it is not known.  0 without steps.
double mean_step_s(const RunRecord& record);

/// The steps of slowest_step_s() without communication; empty where it was not measured.
std::vector<double> slowest_compute_only_step_s(const RunRecord& record);

/// The time that communication adds to a step, in seconds, one value for each pair of blocks: the
/// median step with communication less the median step without it.  Each step is its slowest
/// rank's.  Empty where no pairs were measured.
std::vector<double> exposed_s_by_pair(const RunRecord& record);

/// What a step waited for its data on the mean, in seconds, of the rank that waited longest;
/// nothing where the phase was not measured.
std::optional<double> longest_data_wait_s(const RunRecord& record);

}  // namespace paceline::records
