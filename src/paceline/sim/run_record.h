// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "paceline/record/run_record.h"
#include "paceline/record/trace.h"
#include "paceline/sim/simulate.h"

namespace paceline::sim {

/// Rows of a record name at most so many ranks; of larger worlds one rank of
/// each class stands there.
inline constexpr Rank kMostRecorded = 1024;

/// The last run of `simulator` as every other record: samples per rank and
/// step, phases, planned bytes.  Where the run became steady, its last period
/// repeats until there are `configuration.steps` samples; the first
/// `configuration.warmup` steps are left out as long as there are others.
/// `compute_only` is the same job's run without communication.
record::RunRecord record_of(const Job& job,
                            const Simulator& simulator,
                            const StepTimes& times,
                            const StepTimes& compute_only,
                            const record::Configuration& configuration);

/// What the simulated ranks did in the last run, on the tracks that a measured
/// trace has.
std::vector<record::Span> spans_of(const Job& job, const Simulator& simulator);

}  // namespace paceline::sim
