// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "paceline/records/run_record.h"

namespace paceline::records {

// Note [The same run]
// Two records say the same run where they have equal source, case, run number, start and samples;
// of what Paceline itself ran, also where one file has them with equal source, experiment, case and
// run number.  The first kind is a second import or a copy, of which the first record counts.  The
// second kind is a command that was given again: the last record without an error counts, for a run
// number names a repetition of one experiment.

/// The fact of RunRecord::adapter that says which repetition of its command a record is, where
/// `paceline ab` numbers the runs of the command instead.
inline constexpr const char* kRunOfCommand = "run_of_command";

/// The records that count, by their places, in order: each run once.
/// `file_of[k]` numbers the file of record k; empty: they are of one file.
std::vector<std::size_t> distinct_runs(std::span<const RunRecord> records,
                                       std::span<const std::size_t> file_of = {});

/// Whether two records have equal source, case, run number, start and samples.
bool has_same_samples(const RunRecord& a, const RunRecord& b);

}  // namespace paceline::records
