// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "paceline/predict/bound.h"
#include "paceline/predict/error_bar.h"
#include "paceline/records/run_record.h"
#include "paceline/simulator/simulate.h"

namespace paceline::predict {

/// As records and traces have it.
inline std::int64_t ns(plan::Picoseconds time) {
  return (time + 500) / plan::kPicosecondsPerNanosecond;
}

/// Rows of a record name at most so many ranks; of larger worlds one rank of each class stands
/// there.
inline constexpr plan::Rank kMostRecorded = 1024;

/// Steps of all these rows together: each is five numbers, in memory and as text, so that a record
/// stays below some 1 GB.
inline constexpr std::int64_t kMostSamples = 5'000'000;

/// The steps of a run, one by one, of every actor of the job.
struct FreeSteps {
  std::vector<std::vector<plan::Picoseconds>> steps{};
  plan::Step window = 1;  // as in StepTimes
};

FreeSteps free_steps(const simulator::Job& job, const simulator::Simulator& simulator,
                     const simulator::StepTimes& times);

/// The last run of `simulator` as every other record: samples per rank and step, phases, planned
/// bytes.  The samples are the steps over which `times` takes its means, again and again until
/// there are `configuration.steps`.
/// `compute_only` is the same job's run without communication, sampled in the
/// same way.
records::RunRecord record_of(const simulator::Job& job, const simulator::Simulator& simulator,
                             const simulator::StepTimes& times, const FreeSteps& compute_only,
                             const records::Configuration& configuration);

/// Ranks of the job that compute, those that are not simulated included.
plan::Rank training_ranks(const simulator::Job& job);

/// What is said beside the samples; the bar is of a step that takes `step` on average.
records::Predicted predicted_of(const simulator::Job& job, const Bound& bound, const ErrorBar& bar,
                                plan::Picoseconds step);

}  // namespace paceline::predict
