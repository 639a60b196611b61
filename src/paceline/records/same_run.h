// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "paceline/records/run_record.h"

namespace paceline::records {

// Note [The same run]
// Two records are of the same run if they have equal source, case, run number, start and samples.
// Records of runs by Paceline itself are also of the same run if one file has them with equal
// source, experiment, case and run number.  In the first situation one record is a copy or a second
// import, and the first record counts.  In the second, a command was run again, and the last record
// without an error counts, because a run number names one repetition of an experiment.

/// The key in RunRecord::adapter for the run number that a command gave its record, which `paceline
/// ab` replaces by its own number of the command's run.
inline constexpr const char* kRunOfCommand = "run_of_command";

/// Returns the indices of the records that count, in order: each run once.  `file_of[k]` is the
/// number of the file of record k; if it is empty, all records are of one file.
std::vector<std::size_t> distinct_runs(std::span<const RunRecord> records,
                                       std::span<const std::size_t> file_of = {});

}  // namespace paceline::records
