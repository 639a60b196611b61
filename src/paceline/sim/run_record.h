// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "paceline/record/run_record.h"
#include "paceline/sim/bound.h"
#include "paceline/sim/error_bar.h"
#include "paceline/sim/simulate.h"

namespace paceline::sim {

/// As records and traces have it.
inline std::int64_t ns(Picoseconds time) {
  return (time + 500) / plan::kPicosecondsPerNanosecond;
}

/// Rows of a record name at most so many ranks; of larger worlds one rank of
/// each class stands there.
inline constexpr Rank kMostRecorded = 1024;

/// Steps of all these rows together: each is five numbers, in memory and as
/// text, so that a record stays below some 1 GB.
inline constexpr std::int64_t kMostSamples = 5'000'000;

/// The steps of a run, one by one, of every actor of the job.
struct FreeSteps {
  std::vector<std::vector<Picoseconds>> steps;
  Step window = 1;  // as in StepTimes
};

FreeSteps free_steps(const Job& job,
                     const Simulator& simulator,
                     const StepTimes& times);

/// The last run of `simulator` as every other record: samples per rank and
/// step, phases, planned bytes.  The samples are the steps over which `times`
/// takes its means, again and again until there are `configuration.steps`.
/// `compute_only` is the same job's run without communication, sampled in the
/// same way.
record::RunRecord record_of(const Job& job,
                            const Simulator& simulator,
                            const StepTimes& times,
                            const FreeSteps& compute_only,
                            const record::Configuration& configuration);

/// Ranks of the job that compute, those that are not simulated included.
Rank training_ranks(const Job& job);

/// What is said beside the samples; the bar is of a step that takes `step` on
/// average.
record::Predicted predicted_of(const Job& job,
                               const Bound& bound,
                               const ErrorBar& bar,
                               Picoseconds step);

}  // namespace paceline::sim
